"""Best candidate against trials, of MetaSchedule's search and of `polysched tune`; see README.md.

    python experiments/reproduced/search_curves/run.py --trials 16
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.errors import UsageError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.claims import Claim, at_least
from polysched.experiment.contest import MissingToolError
from polysched.experiment.folders import load_module
from polysched.experiment.plots import COLOURS, new_figure
from polysched.experiment.tables import markdown_table
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.search import Budget, tune
from polysched.target import host
from polysched.tiling import TilingOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLAS = Path(__file__).parents[2] / "blas"
NEEDS = ("tvm", "xgboost", "cloudpickle", "psutil", "tornado")
C_TYPES = {"float32": "float", "float64": "double"}
FAILED_SECONDS = 1e9
"""TVM writes 1e10 for a candidate that has no time."""
CLOSE = 0.9
FEWEST_TRIALS = 2
"""The model's pick is the first of ours."""
HEADINGS = ("workload", "search", "first, us", "after a quarter, us", "at the end, us",
            "trials to 90% of MetaSchedule's end")
OURS, THEIRS = "polysched tune", "MetaSchedule"


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--trials", metavar="N", type=int, default=64, help="candidates of each search (default: 64)")


def cases(settings: Settings) -> list[Case]:
    trials = settings.options["trials"]
    if trials < FEWEST_TRIALS:
        raise UsageError(f"a search has {FEWEST_TRIALS} trials or more", witness=f"--trials {trials}")
    return [Case(name=row["name"], parameters={"workload": row, "trials": trials})
            for row in settings.config["workload"]]


def program(row: Mapping[str, Any]) -> Scop:
    """The loop nest of a workload, its sizes as macros."""
    text = (BLAS / "nests" / f"{row['kind']}.c").read_text()
    macros = {"TYPE": C_TYPES[row["dtype"]], **row["sizes"]}
    return from_c_text("".join(f"#define {name} {value}\n" for name, value in macros.items()) + text)


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Seconds of every candidate in the order of the trials, None where one has no time; of both searches."""
    row, trials, threads = case.parameters["workload"], case.parameters["trials"], settings.threads[0]
    missing = [package for package in NEEDS if importlib.util.find_spec(package) is None]
    if missing:
        raise MissingToolError(f"skipped: the package {missing[0]} is not installed",
                               hint="pip install 'polysched[peers]'")
    theirs = searched_by_metaschedule(row, trials, threads, report)
    options = PipelineOptions(tiling=TilingOptions(target=replace(host(), cores=threads)), reassociate=True)
    found = tune(program(row), threads=threads, options=options, seed=settings.config["seed"],
                 budget=Budget(trials=trials - 1), on_trial=lambda trial, count: report(f"our trial {count}"))
    return {"threads": threads, "curves": {THEIRS: theirs, OURS: [t.seconds for t in (found.first, *found.trials)]}}


def searched_by_metaschedule(row: Mapping[str, Any], trials: int, threads: int, report: Report) -> list[float | None]:
    """MetaSchedule's search of `experiments/blas`, in a process of its own."""
    searched = load_module(BLAS / "searched.py")
    request = {"workload": dict(row), "threads": threads, "trials": trials}
    with tempfile.TemporaryDirectory(prefix="polysched-curves-") as name:
        folder = searched.searched(request, Path(name) / "records", [sys.executable, str(BLAS / "tvm_peers.py")],
                                   {"TVM_NUM_THREADS": str(threads), "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}, report)
        return times_of((folder / searched.RECORDS).read_text())


def times_of(text: str) -> list[float | None]:
    """Mean seconds of each candidate in TVM's database of records, a line of JSON each."""
    found: list[float | None] = []
    for line in text.splitlines():
        _, (_, seconds, *_) = json.loads(line)
        mean = statistics.fmean(seconds) if seconds else inf
        found.append(mean if mean < FAILED_SECONDS else None)
    return found


def best_so_far(curve: Sequence[float | None]) -> list[float]:
    """The least time among the first trials, for every number of them."""
    return list(accumulate((inf if seconds is None else seconds for seconds in curve), min))


def trials_to(curve: Sequence[float | None], seconds: float) -> int | None:
    """How many trials the search took to a candidate as fast as that; None where it has none."""
    return next((at + 1 for at, best in enumerate(best_so_far(curve)) if best <= seconds), None)


def ratio(record: Record) -> float:
    """How many times as fast our best is as MetaSchedule's, after as many trials."""
    ours, theirs = (best_so_far(record.values["curves"][name]) for name in (OURS, THEIRS))
    most = min(len(ours), len(theirs))
    if ours[most - 1] == inf:
        return 0.0
    return theirs[most - 1] / ours[most - 1]


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in (r for r in records if r.done):
        end = best_so_far(record.values["curves"][THEIRS])[-1]
        for name, curve in record.values["curves"].items():
            best = best_so_far(curve)
            reached = trials_to(curve, end / CLOSE)
            rows.append([record.case, name, *(f"{1e6 * best[at]:.0f}" for at in (0, (len(best) - 1) // 4, -1)),
                         "none" if reached is None else reached])
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or
                      f"reproduced: our best is {mean(records):.2f} times as fast as MetaSchedule's"])


def mean(records: Sequence[Record]) -> float:
    """Geometric, over the workloads; 0 where one has no time of ours."""
    ratios = [ratio(r) for r in records if r.done]
    return statistics.geometric_mean(ratios or [1.0]) if all(ratios) else 0.0


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    done = [r for r in records if r.done]
    wrong = [] if done else ["nothing was searched"]
    if (found := mean(records)) < 1:
        wrong.append(f"our best is {found:.2f} times as fast as MetaSchedule's")
    for record in done:
        ours, theirs = record.values["curves"][OURS], record.values["curves"][THEIRS]
        if best_so_far(theirs)[-1] == inf:
            wrong.append(f"{record.case}: no candidate of MetaSchedule's has a time")
        elif trials_to(ours, best_so_far(theirs)[-1] / CLOSE) is None:
            wrong.append(f"{record.case} does not come to {CLOSE:.0%} of MetaSchedule's end")
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


def plot(records: Sequence[Record]) -> Figure:
    """Best so far over the trials: ours full, MetaSchedule's dashed."""
    figure, axes = new_figure()
    for number, record in enumerate(r for r in records if r.done):
        for name, curve in record.values["curves"].items():
            best = [1e6 * seconds if seconds < inf else float("nan") for seconds in best_so_far(curve)]
            axes.step(range(1, len(best) + 1), best, where="post", color=COLOURS[number % len(COLOURS)],
                      linestyle="-" if name == OURS else "--", label=f"{record.case}, {name}")
    axes.set_xlabel("trials")
    axes.set_ylabel("best so far, us")
    axes.set_yscale("log")
    axes.legend(fontsize="small")
    return figure


def claims(records: Sequence[Record]) -> list[Claim]:
    """Ours beside MetaSchedule, which ran here."""
    found = mean(records)
    asked, holds = at_least(1.0, found)
    return [Claim(what="our best, times as fast as MetaSchedule's, mean", ours=found, published=1.0, asked=asked,
                  holds=holds, source="MetaSchedule itself, run here: the published curves could not be looked up")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims, plot=plot,
                        add_arguments=add_arguments)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
