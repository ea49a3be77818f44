"""Does the projected cost model rank tile sizes as the machine does?  See README.md.

    python experiments/tile_model/run.py [--only KERNEL ...]

For every kernel and every tile in a grid (and the model's own pick) the emitted code is verified, run on one thread and
timed; the model predicts the same nests without running them.  Times are CPU seconds of the running thread, so
that other load on the machine disturbs them little.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.errors import PolyschedError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.plots import COLOURS, new_figure
from polysched.experiment.tables import markdown_table
from polysched.measure.paired import MeasureOptions, Subject, compare_and_time
from polysched.scheduling import pluto
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_file
from polysched.target import host
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.cost_models import Projected, SpeedOfLight

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
PICK = "auto"


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Every tile of the grid, and the model's pick; a candidate without a verified time says why."""
    schedule, sizes = pluto(analyse(from_c_file(KERNELS / f"{case.name}.c"))), case.parameters["sizes"]
    candidates = []
    for edges in (PICK, *map(tuple, settings.config["grid"])):
        report(f"tile {edges if edges == PICK else ' x '.join(map(str, edges))}")
        try:
            candidates.append(candidate(schedule, edges, sizes, settings))
        except PolyschedError as error:
            candidates.append({"edges": edges, "problem": error.problem})
    untiled = tile(schedule, TilingOptions(sizes=32, parallel=False, parameters=sizes))
    light = SpeedOfLight(target=host())
    return {"sizes": sizes, "candidates": candidates, "vector_bits": host().vector_bits,
            "speed_of_light_seconds": sum(light.seconds(b.plan) for b in untiled.bands if b.plan is not None)}


def candidate(schedule: Schedule, edges: tuple[int, ...] | str, sizes: Mapping[str, int],
              settings: Settings) -> dict[str, Any]:
    """Tile, emit, verify and time one candidate on one thread."""
    scop = schedule.scop
    tiled = tile(schedule, TilingOptions(sizes=edges, parallel=False, parameters=sizes))
    assert scop.source is not None
    text = splice(scop.source.text, [emit(tiled, options=EmitOptions(openmp=False, vector_bits=host().vector_bits))])
    measured = compare_and_time(
        Subject(scops=(scop,), transformed_text=text), sizes,
        options=MeasureOptions(threads=1, pairs=settings.config["pairs"], budget_seconds=settings.budget_seconds))
    if measured.timing is None:
        raise PolyschedError(f"no time: {measured.failure or 'not verified'}")
    return {"edges": edges, "tiles": [list(b.sizes) for b in tiled.bands], "predicted_seconds": predict(tiled),
            "measured_seconds": [s.thread_cpu_seconds for s in measured.timing.transformed],
            "wall_seconds": [s.wall_seconds for s in measured.timing.transformed], "verified": measured.verified}


def predict(tiled: TiledSchedule) -> float:
    """Projected seconds of all tiled bands; untiled ones cost the same for every candidate."""
    model = Projected(target=host())
    return sum(model.seconds(band.plan) for band in tiled.bands if band.plan is not None)


def timed(record: Record) -> list[dict[str, Any]]:
    return [c for c in record.values["candidates"] if c.get("verified")]


def seconds(c: Mapping[str, Any]) -> float:
    return statistics.median(c["measured_seconds"])


def rank_correlation(candidates: Sequence[Mapping[str, Any]]) -> float:
    """Spearman's rho of predicted and measured seconds."""
    def ranks(values: Sequence[float]) -> list[float]:
        order = sorted(values)
        return [statistics.mean(i for i, other in enumerate(order) if other == value) for value in values]
    return statistics.correlation(ranks([c["predicted_seconds"] for c in candidates]),
                                  ranks([seconds(c) for c in candidates]))


def loss(candidates: Sequence[Mapping[str, Any]]) -> float | None:
    """How much slower the model's pick is than the best measured tile; 0 when it is the best."""
    pick = next((c for c in candidates if c["edges"] == PICK), None)
    return None if pick is None else seconds(pick) / min(seconds(c) for c in candidates) - 1


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        candidates = timed(record)
        lost, best = loss(candidates), min(candidates, key=seconds)
        rows.append([record.case, len(candidates), f"{rank_correlation(candidates):+.2f}",
                     "-" if lost is None else f"{lost:.0%}", best["edges"],
                     f"{max(map(seconds, candidates)) / seconds(best):.1f}"])
    failed = [f"- {r.case} {c['edges']}: {c['problem']}" for r in records for c in r.values["candidates"]
              if "problem" in c]
    return "\n".join([markdown_table(["kernel", "candidates", "rank correlation", "loss of the model's pick", "best",
                                      "worst over best"], rows), *(["", *failed] if failed else [])])


def plot(records: Sequence[Record]) -> Figure:
    """Measured against predicted seconds, both over the kernel's least; the model's pick is a square."""
    figure, axes = new_figure(width=6.5, height=5)
    for number, record in enumerate(records):
        candidates, colour = timed(record), COLOURS[number % len(COLOURS)]
        least = min(c["predicted_seconds"] for c in candidates), min(map(seconds, candidates))
        for c in candidates:
            x, y = c["predicted_seconds"] / least[0], seconds(c) / least[1]
            if c["edges"] == PICK:
                axes.plot([x], [y], "s", markersize=10, fillstyle="none", color=colour, label=record.case)
            else:
                axes.plot([x], [y], "o", markersize=5, alpha=0.7, color=colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("predicted, times the least")
    axes.set_ylabel("measured, times the least")
    axes.legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
