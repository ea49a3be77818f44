"""Speed of tensorized operators against the plain loop nest, oneDNN, BLAS and the measured peak of the instruction.

    python experiments/tensorize/run.py [--threads 2] [--plot FILE.svg] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import racing
import workloads
from field import BLAS, NARROW, ONEDNN, PLAIN, Field, limited

from polysched.experiment import Case, Experiment, Record, Report, Rules, Settings, Standings, run_contest
from polysched.experiment.case_run import thread_variables
from polysched.experiment.contest_results import first_line, standings_of
from polysched.experiment.standings import Status
from polysched.experiment.tables import markdown_table
from polysched.measure.processes.threads import bound_to, pinned_processors
from polysched.measure.timing.statistics import Interval
from polysched.target import find_compiler
from polysched.tensorize import find_intrinsic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GIGA = 1e9


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--intrinsics", nargs="+", metavar="NAME", default=[],
                       help="measure these too, beside the program's own choice and those of the configuration")


def cases(settings: Settings) -> list[Case]:
    """One per workload and number of threads."""
    several, also = len(settings.threads) > 1, dict.fromkeys(settings.options["intrinsics"], "")
    rows = [row | {"asked": also | row.get("asked", {})} for row in settings.config["workload"]]
    for name in {n for row in rows for n in row["asked"]}:
        find_intrinsic(name)   # one that is not known is refused before anything is measured
    return [Case(name=row["name"].replace(" ", "_") + (f"_threads_{threads}" if several else ""),
                 parameters={"workload": row, "threads": threads}) for row in rows for threads in settings.threads]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The program's own choice for a workload and the instructions that were asked for, against everybody."""
    row, threads = case.parameters["workload"], case.parameters["threads"]
    workload, processors = workloads.make(row), pinned_processors(threads) if settings.pin else ()
    os.environ.update({k: v for k, v in thread_variables(threads, pin=settings.pin).items() if v is not None})
    with tempfile.TemporaryDirectory(prefix="polysched-tensorize-") as folder:
        taking = Field(workload=workload, parameters=case.parameters, folder=Path(folder))
        taking.add_plain()
        chosen, asked, skipped = racing.candidates(workload, row["asked"])
        for candidate in [*([chosen] if chosen is not None else []), *asked]:
            report(f"racing {candidate.intrinsic.name}")
            with bound_to(processors):
                made = racing.make(workload, candidate)
            taking.add_ours(made, limit=None if candidate is chosen else row["asked"][candidate.intrinsic.name])
        taking.add_peers()
        rules = Rules(reference=PLAIN, ours=taking.staying, budget_seconds=settings.budget_seconds, tolerance=0.0,
                      most_rounds=settings.config["rounds"], pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(taking.contenders, rules, Path(folder), report)
    return {"contest": standings.to_json(), "rows": taking.rows, "skipped": skipped, "reference": PLAIN,
            "flop_count": workload.operations, "threads": threads, "compiler": find_compiler().version}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One instruction for one workload; ratios are of our speed with the constant operand packed once.

    Parameters
    ----------
    rates : operations per second of ours packing everything, packed once, and the bare instruction.
    share, plain, onednn, narrow, blas : of the bare instruction's rate; over the others, the best of each kind.
    state : `yes` where every bit of ours is the plain loop nest's.
    disturbed : the largest share of disturbed calls of these three.
    """

    workload: str
    intrinsic: str
    rates: tuple[float | None, ...]
    share: tuple[float, Interval] | None
    plain: tuple[float, Interval] | None
    onednn: tuple[float, Interval] | None
    narrow: tuple[float, Interval] | None
    blas: tuple[float, Interval] | None
    state: str
    disturbed: float


def rows_of(record: Record) -> list[Row]:
    """The rows of one record, the program's own choice first."""
    standings, work = standings_of(record), record.values["flop_count"]
    names = [v.name for v in standings.variants]
    found = []
    for about in record.values["rows"]:
        mine, operations = about["ours"], {about["peak"]: about["peak_operations"]}
        limit = about["onednn_limit"]
        onednn = [n for n in names if n.startswith(ONEDNN) and NARROW not in n
                  and (n == limited(n.partition(" up to ")[0], limit))]
        own = [standings.variant(n) for n in (f"{mine} packing", mine, about["peak"])]
        states = {v.status.value for v in own if v is not None}
        found.append(Row(
            workload=record.case, intrinsic=about["intrinsic"] + (" (asked)" if about["asked"] else ""),
            rates=tuple(operations.get(v.name, work) / v.seconds / GIGA if v is not None and v.timed else None
                        for v in own),
            share=scaled(standings.speed_up(mine, over=about["peak"]), work / about["peak_operations"]),
            plain=standings.speed_up(mine, over=PLAIN), onednn=over_best(standings, mine, onednn),
            narrow=over_best(standings, mine, [n for n in names if NARROW in n] if not limit else []),
            blas=over_best(standings, mine, BLAS), disturbed=max(v.disturbed_share for v in own if v is not None),
            state="yes" if states == {Status.VERIFIED.value} else ", ".join(sorted(states))))
    return found


def over_other_peaks(record: Record) -> list[tuple[str, str, str]]:
    """The program's choice beside the peaks of the instructions that were asked for: what a wider unit buys."""
    standings, work, rows = standings_of(record), record.values["flop_count"], record.values["rows"]
    return [(own["intrinsic"], other["intrinsic"], in_words(scaled(
                standings.speed_up(own["ours"], over=other["peak"]), work / other["peak_operations"])))
            for own in rows if not own["asked"] for other in rows if other["asked"]]


def scaled(ratio: tuple[float, Interval] | None, factor: float) -> tuple[float, Interval] | None:
    """A ratio of seconds as one of rates, where one call does more than the other."""
    if ratio is None:
        return None
    middle, interval = ratio
    return middle * factor, Interval(low=interval.low * factor, high=interval.high * factor,
                                     coverage=interval.coverage)


def over_best(standings: Standings, ours: str, names: Iterable[str]) -> tuple[float, Interval] | None:
    """Our speed over that of the fastest of some variants, in the rounds that they share."""
    best = standings.fastest(names)
    return None if best is None else standings.speed_up(ours, over=best.name)


def table(records: Sequence[Record]) -> str:
    """G operations per second, and our speed (the constant packed once) over the others', with intervals."""
    cells = [cells_of(r) for record in records for r in rows_of(record)]
    lines = [markdown_table(["workload", "instruction", "ours G/s", "packed once G/s", "peak G/s", "share of peak",
                             "x plain", "x oneDNN", "x narrow", "x BLAS", "verified", "disturbed"], cells), ""]
    for record in records:
        if not any(not row["asked"] for row in record.values["rows"]):
            lines.append(f"- {record.case}: no instruction that runs here")
        lines += [f"- {record.case}: {own} runs at {ratio} of the peak of {other}"
                  for own, other, ratio in over_other_peaks(record)]
        lines += [f"- {record.case}, {name}: skipped: {first_line(why)}"
                  for name, why in record.values["skipped"].items()]
        lines += [f"- {record.case}, {v.name}: {v.status.value}: {first_line(v.problem)}"
                  for v in standings_of(record).variants if not v.timed]
    return "\n".join(lines).rstrip()


def cells_of(row: Row) -> list[str]:
    """A line of the table."""
    return [row.workload, row.intrinsic, *("-" if rate is None else f"{rate:.0f}" for rate in row.rates),
            in_words(row.share), "-" if row.plain is None else f"{row.plain[0]:.3g}",
            *(in_words(ratio) for ratio in (row.onednn, row.narrow, row.blas)), row.state, f"{row.disturbed:.0%}"]


def in_words(ratio: tuple[float, Interval] | None) -> str:
    """`0.73 (0.70 to 0.75)`: a median with its interval."""
    return "-" if ratio is None else f"{ratio[0]:.3g} ({ratio[1].low:.3g} to {ratio[1].high:.3g})"


def verdict(records: Sequence[Record]) -> str:
    """Ours has to be verified wherever there is a match."""
    wrong = [f"{r.workload} by {r.intrinsic}: {r.state}" for record in records if record.done
             for r in rows_of(record) if r.state != "yes"]
    return f"not verified: {', '.join(wrong)}" if wrong else ""


def plot(records: Sequence[Record]) -> Figure:
    """Share of the instruction's measured peak, and speed over oneDNN."""
    from polysched.experiment.plots import BarPanel, bar_panels
    rows = [r for record in records for r in rows_of(record)]
    others = {"oneDNN": [r.onednn for r in rows], "OpenBLAS or MKL": [r.blas for r in rows]}
    return bar_panels([f"{r.workload}, {r.intrinsic}" for r in rows], [
        BarPanel(series={"share of the instruction's peak": [r.share and r.share[0] for r in rows]},
                 ylabel="share of peak", line_at=1.0),
        BarPanel(series={f"speed over {n}": [found and found[0] for found in them] for n, them in others.items()},
                 ylabel="speed over libraries", line_at=1.0)])


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, add_arguments=add_arguments,
                        verdict=verdict, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
