"""How much faster is what `polysched tune` finds than the model's pick, and after how many trials?  See README.md.

    polysched bench tune [--only KERNEL ...] [--null [--runs N] [--load N]]
                         [--unseen | --plans | --best-of N | --sizes | --tvm [--trials N]]

`--unseen` searches programs with which no rule and no feature was made.  `--null` races the model's pick against
itself, N times: a gain that is claimed then is a false one.  `--plans` searches plans of instructions; `--best-of`
counts trials to the best of N; `--sizes` races code of a range with code of a size.  `--tvm` races what is found with
what TVM's search finds in the same wall-clock.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

from polysched.errors import PolyschedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import new_figure
from polysched.experiment.tables import markdown_table
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search import Budget, tune
from polysched.search.building import Candidate, LocalBuilder, Wanted
from polysched.search.chooser import Chooser
from polysched.search.space import Proposal
from polysched.target import host
from polysched.tiling import TilingOptions

sys.path[:0] = [str(Path(__file__).parent)]
import further_rows  # noqa: E402
import tvm_row  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from polysched.dependence.dependences import Dependences

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
UNSEEN = Path(__file__).parent / "unseen"
MINUTE = 60.0
NAMES = (2, 3, 4)
FALSE_CLAIMS = 0.05
"""Of searches without anything to find: how many may claim a gain."""
CLOSE = 0.95
"""Of the best ratio of a search: how many trials it took to come so near."""


def cases(settings: Settings) -> list[Case]:
    if settings.options.get("tvm"):
        return tvm_row.cases(settings, settings.config["tvm"]["workloads"])
    group = next((name for name in ("plans", "sizes", "unseen") if settings.options.get(name)), "kernels")
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config[group].items()]


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--null", action="store_true", help="race the model's pick against itself")
    group.add_argument("--runs", type=int, default=1, metavar="N", help="searches of --null per kernel (default: 1)")
    group.add_argument("--load", type=int, default=0, metavar="N", help="busy processes beside --null (default: 0)")
    group.add_argument("--plans", action="store_true", help="search plans of instructions only, beside the first plan")
    group.add_argument("--best-of", type=int, default=0, metavar="N",
                       help="count trials to 95 percent of the best of N, with each model")
    group.add_argument("--unseen", action="store_true",
                       help="the ten programs of the folder unseen, with which no rule and no feature was made")
    group.add_argument("--tvm", action="store_true",
                       help="six workloads: what TVM's MetaSchedule and `polysched tune` find in the same wall-clock")
    group.add_argument("--trials", type=int, default=64, metavar="N",
                       help="candidates of TVM's search with --tvm (default: 64)")
    group.add_argument("--sizes", action="store_true", help="race code of few variants with code for each size")


def itself(choose: Chooser, dependences: Dependences) -> Recipe:
    """Names for the model's pick: `Same` makes its C of each."""
    return Recipe(tile=choose.one_of("name", NAMES))


class Same(LocalBuilder):
    """The C of the model's pick, whatever the recipe."""

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        made = super().build([replace(w, proposal=Proposal(recipe=Recipe())) for w in wanted])
        return [replace(c, proposal=w.proposal, code=f"{c.code} {w.number}") if isinstance(c, Candidate) else c
                for c, w in zip(made, wanted, strict=True)]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """One search, with every trial."""
    if settings.options.get("tvm"):
        return tvm_row.measure(case, settings, report)
    (threads,) = settings.threads
    folder = UNSEEN if settings.options.get("unseen") else KERNELS
    file, sizes, seed = folder / f"{case.name}.c", case.parameters["sizes"], settings.config["seed"]
    options = PipelineOptions(tiling=TilingOptions(target=replace(host(), cores=threads)))
    minutes = settings.budget_seconds / MINUTE
    if settings.options.get("null"):
        with further_rows.load(int(settings.options.get("load") or 0)):
            return raced_with_itself(file, sizes, options, int(settings.options.get("runs") or 1), seed, report)
    if settings.options.get("plans"):
        return further_rows.over_the_first_plan(further_rows.operator(sizes), options, minutes, seed, report)
    if count := int(settings.options.get("best_of") or 0):
        return further_rows.to_the_best(file, sizes, options, count, seed, report)
    if settings.options.get("sizes"):
        return further_rows.at_any_size(file, sizes, settings.config["other_sizes"], options,
                                        minutes / settings.config["searches_of_a_range"], seed, report)
    found = tune(file, sizes=sizes, threads=threads, options=options, seed=seed, budget=Budget(minutes=minutes),
                 on_trial=lambda trial, count: report(f"trial {count}"))
    return {**found.to_json(), "records": further_rows.records_of(found),
            **({"unseen": True} if settings.options.get("unseen") else {})}


def raced_with_itself(file: Path, sizes: dict[str, int], options: PipelineOptions, runs: int, seed: int,
                      report: Report) -> dict[str, Any]:
    """How many of so many searches among names of one code claim a gain, each with fresh samples."""
    gains = []
    for run in range(runs):
        found = tune(file, sizes=sizes, threads=options.tiling.target.cores, options=options, space=itself,
                     strategy="grid", seed=seed + run, builder=Same(from_c_file(str(file)), options),
                     budget=Budget(trials=len(NAMES)))
        gains.append(found.gain.to_json())
        report(f"run {run + 1} of {runs}")
    claimed = sum(gain["pairs"] > 0 for gain in gains)
    return {"null": {"runs": runs, "claimed": claimed, "chance": chance(claimed, runs), "gains": gains}}


def chance(claimed: int, runs: int, rate: float = FALSE_CLAIMS) -> float:
    """The binomial probability of at least so many false claims where each run makes one at this rate."""
    return sum(comb(runs, k) * rate**k * (1 - rate)**(runs - k) for k in range(claimed, runs + 1))


def null_table(records: Sequence[Record]) -> str:
    """False claims per kernel; a chance below 5% says that there are more than 5 in a hundred."""
    rows = [[r.case, str(v["runs"]), str(v["claimed"]), f"{v['chance']:.3f}"]
            for r in records for v in [r.values["null"]]]
    return markdown_table(["kernel", "runs", "claimed", f"chance of as many at {FALSE_CLAIMS:.0%}"], rows) + "\n"


def table(records: Sequence[Record]) -> str:
    """Gain with interval, trials, and how soon the search came near; cases that keep the model's pick counted apart."""
    tables = {"trials": search_table, "unseen": search_table, "null": null_table, "plans": further_rows.plan_table,
              "best": further_rows.best_table, "sizes": further_rows.size_table,
              "tvm": tvm_row.table}
    groups = {name: [r for r in records if _kind(r) == name] for name in tables}
    return "\n".join(make(groups[name]) for name, make in tables.items() if groups[name])


def _kind(record: Record) -> str:
    return next(name for name in ("null", "plans", "best", "unseen", "trials", "sizes", "tvm") if name in record.values)


def search_table(records: Sequence[Record]) -> str:
    """The searches."""
    rows = []
    for record in records:
        value = record.values
        low, high = value["gain"]["interval"]
        rows.append([record.case, f"{value['gain']['median']:.2f}", f"{low:.2f} to {high:.2f}", str(value["trials"]),
                     str(near(value["curve"])), f"{value['trials'] / value['seconds']:.2f}", str(value["rejected"]),
                     str(value["duplicates"])])
    won = [r.values["gain"]["median"] for r in records if r.values["gain"]["pairs"]]
    every = geometric_mean([r.values["gain"]["median"] for r in records])
    head = ["kernel", "gain", "95% interval", "trials", "trials to 95%", "a second", "rejected", "same C"]
    told = f"{len(won)} of {len(records)} cases do not keep the model's pick"
    mean = f"; their geometric mean is {geometric_mean(won):.2f}, that of all {every:.2f}" if won else ""
    return f"{markdown_table(head, rows)}\n\n{told}{mean}.\n"


def near(curve: Sequence[float]) -> int:
    """Trials until the best ratio so far was within 5% of the last."""
    return next((k + 1 for k, ratio in enumerate(curve) if ratio >= CLOSE * curve[-1]), 0)


def plot(records: Sequence[Record]) -> Figure:
    """The best ratio so far over the trials."""
    figure, axes = new_figure()
    for record in (r for r in records if _kind(r) in ("trials", "unseen")):
        axes.step(range(1, len(record.values["curve"]) + 1), record.values["curve"], where="post", label=record.case)
    axes.set_xlabel("trials")
    axes.set_ylabel("times as fast as the model's pick")
    axes.legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        times_calls=False)
