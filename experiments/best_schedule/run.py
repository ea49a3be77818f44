"""Does `--scheduler best` rank schedules as the machine does?  See README.md.

    polysched bench best_schedule

Every candidate of `best` that is a schedule of its own is tiled, emitted, compiled, verified against the code as
written and timed in turn, in rounds; the model predicts the same programs without running them.  On one thread times
are processor seconds, so that other load on the machine disturbs them little; on several they are wall time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.dependence import analyse
from polysched.dependence.expansion import expand_temporaries
from polysched.experiment import Case, Contender, Experiment, Record, Report, Rules, Settings, run_contest
from polysched.experiment.candidates import VersionedFunction, loss, rank_correlation, seconds
from polysched.experiment.plots import grouped_bars
from polysched.experiment.standings import VariantTimes
from polysched.experiment.tables import markdown_table
from polysched.scop import from_c_file
from polysched.search.clients.best_schedule import Tried, candidates_of, winner_of
from polysched.target import host
from polysched.tiling import TilingOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
REFERENCE = "the C file"
TIE = 0.05
"""Candidates closer than this to the best one count as equal to it."""


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Every different schedule among the candidates, predicted and measured."""
    file, sizes, threads = KERNELS / f"{case.name}.c", case.parameters["sizes"], settings.threads[0]
    scop = from_c_file(file)
    report("scheduling and tiling every candidate")
    target = replace(host(), cores=threads)
    tried = candidates_of(expand_temporaries(analyse(scop)).dependences,
                          tiling=TilingOptions(target=target, parallel=threads > 1, parameters=sizes))
    distinct = [t for t in tried if t.tiled is not None]
    with tempfile.TemporaryDirectory(prefix="polysched-best-") as name:
        kernel = VersionedFunction(scop=scop, sizes=sizes, folder=Path(name), openmp=threads > 1)
        made = [Contender(name=REFERENCE, make=kernel.as_written, threads=threads)]
        made += [Contender(name=t.candidate.name, make=partial(kernel.transformed, f"candidate_{k}", t.tiled),
                           threads=threads) for k, t in enumerate(distinct) if t.tiled is not None]
        rules = Rules(reference=REFERENCE, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                      most_rounds=settings.config["rounds"], pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(made, rules, Path(name), report)
    times = {v.name: v for v in standings.variants}
    return {"sizes": sizes, "threads": threads, "pick": winner_of(tried).candidate.name,
            "candidates": [candidate(t, times.get(t.candidate.name), wall=threads > 1) for t in tried]}


def candidate(tried: Tried, times: VariantTimes | None, *, wall: bool) -> dict[str, Any]:
    """What the report and the table read: one candidate, predicted and measured."""
    found = {"name": tried.candidate.name, "predicted_seconds": tried.candidate.predicted_seconds,
             "note": tried.candidate.note}
    if times is None or not times.timed:
        return found | ({} if times is None else {"problem": times.problem})
    samples = [sample for taken in times.rounds.values() for sample in taken]
    return found | {"measured_seconds": [s.wall_seconds if wall else s.thread_cpu_seconds for s in samples],
                    "verified": True}


def timed(record: Record) -> list[dict[str, Any]]:
    return [c for c in record.values["candidates"] if c.get("verified")]


def lost_by_pick(record: Record) -> float | None:
    """How much slower the pick is than the best measured candidate; 0 when it is the best."""
    return loss(next((c for c in timed(record) if c["name"] == record.values["pick"]), None), timed(record))


def compared(record: Record) -> list[dict[str, Any]]:
    """The candidates that are both predicted and measured."""
    return [c for c in timed(record) if c["predicted_seconds"] is not None]


def table(records: Sequence[Record]) -> str:
    rows, losses = [], []
    for record in records:
        both, lost, measured = compared(record), lost_by_pick(record), timed(record)
        if lost is None:
            rows.append([record.case, len(measured), "-", record.values["pick"], "-", "-", "-"])
            continue
        losses.append(lost)
        best = min(measured, key=seconds)
        rho = rank_correlation(both) if len(both) > 2 else None
        rows.append([record.case, len(measured), "-" if rho is None else f"{rho:+.2f}", record.values["pick"],
                     f"{lost:.0%}", best["name"], f"{max(map(seconds, measured)) / seconds(best):.1f}"])
    failed = [f"- {r.case}, {c['name']}: {c['problem']}" for r in records for c in r.values["candidates"]
              if "problem" in c]
    text = markdown_table(["kernel", "schedules", "rank correlation", "pick of `best`", "its loss", "best measured",
                           "worst over best"], rows)
    if losses:
        near = sum(lost <= TIE for lost in losses)
        text += (f"\n\nThe pick is within {TIE:.0%} of the best measured schedule for {near} of {len(losses)} kernels; "
                 f"median loss {statistics.median(losses):.0%}, largest {max(losses):.0%}.")
    return "\n".join([text, *(["", *failed] if failed else [])])


def plot(records: Sequence[Record]) -> Figure:
    """How many times the best measured schedule takes, for the pick and for the worst schedule of each kernel."""
    shown = [(r, lost, timed(r)) for r in records if (lost := lost_by_pick(r)) is not None]
    worst = [max(map(seconds, found)) / min(map(seconds, found)) for _, _, found in shown]
    return grouped_bars([r.case for r, _, _ in shown], {"pick of best": [1 + lost for _, lost, _ in shown],
                                                        "worst schedule": worst},
                        ylabel="time over the best schedule's", logarithmic=True, line_at=1.0)


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
