"""Does the projected cost model rank tile sizes as the machine does?  See README.md.

    python experiments/tile_model/run.py [--only KERNEL ...]

All tiles of a grid and the model's own pick are compiled, verified against the untransformed code and timed on
one thread in turn, in rounds; the model predicts the same nests without running them.  Times are processor seconds
of the running thread, so that other load on the machine disturbs them little.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polysched.dependence import analyse
from polysched.experiment import Case, Contender, Experiment, Record, Report, Rules, Settings, run_contest
from polysched.experiment.candidates import VersionedFunction, loss, rank_correlation, seconds
from polysched.experiment.plots import COLOURS, new_figure, plain_ticks
from polysched.experiment.standings import VariantTimes
from polysched.experiment.tables import markdown_table
from polysched.scheduling import pluto
from polysched.scop import from_c_file
from polysched.target import host
from polysched.tiling import TiledSchedule, TilingOptions, tile
from polysched.tiling.planning.cost_models import Projected, SpeedOfLight

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNELS = Path(__file__).parents[2] / "tests" / "kernels"
PICK, REFERENCE = "auto", "as written"
Edges = tuple[int, ...] | str


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Every tile of the grid, and the model's pick; a candidate without a verified time says why."""
    file, sizes = KERNELS / f"{case.name}.c", case.parameters["sizes"]
    schedule = pluto(analyse(from_c_file(file)))
    report("tiling")
    tiles = {edges: tile(schedule, TilingOptions(sizes=edges, parallel=False, parameters=sizes))
             for edges in (PICK, *map(tuple, settings.config["grid"]))}
    with tempfile.TemporaryDirectory(prefix="polysched-tiles-") as name:
        kernel = VersionedFunction(scop=schedule.scop, sizes=sizes, folder=Path(name))
        made = [Contender(name=REFERENCE, make=kernel.as_written)]
        made += [Contender(name=name_of(edges), make=partial(kernel.transformed, f"tiles_{number}", tiled))
                 for number, (edges, tiled) in enumerate(tiles.items())]
        rules = Rules(reference=REFERENCE, ours=tuple(c.name for c in made), budget_seconds=settings.budget_seconds,
                      most_rounds=settings.config["rounds"], pin=settings.pin, cold_cache=settings.cold_cache)
        standings = run_contest(made, rules, Path(name), report)
    times = {v.name: v for v in standings.variants}
    light = SpeedOfLight(target=host())
    return {"sizes": sizes, "vector_bits": host().vector_bits,
            "candidates": [candidate(edges, tiled, times[name_of(edges)]) for edges, tiled in tiles.items()],
            "speed_of_light_seconds": sum(light.seconds(b.plan) for b in tiles[PICK].bands if b.plan is not None)}


def name_of(edges: Edges) -> str:
    return edges if isinstance(edges, str) else " x ".join(map(str, edges))


def candidate(edges: Edges, tiled: TiledSchedule, times: VariantTimes) -> dict[str, Any]:
    """What the report and the table read: one tile, predicted and measured."""
    if not times.timed:
        return {"edges": edges, "problem": times.problem}
    samples = [sample for taken in times.rounds.values() for sample in taken]
    return {"edges": edges, "tiles": [list(b.sizes) for b in tiled.bands], "predicted_seconds": predict(tiled),
            "measured_seconds": [s.thread_cpu_seconds for s in samples],
            "wall_seconds": [s.wall_seconds for s in samples], "verified": True}


def predict(tiled: TiledSchedule) -> float:
    """Projected seconds of all tiled bands; untiled ones cost the same for every candidate."""
    model = Projected(target=host())
    return sum(model.seconds(band.plan) for band in tiled.bands if band.plan is not None)


def timed(record: Record) -> list[dict[str, Any]]:
    return [c for c in record.values["candidates"] if c.get("verified")]


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        candidates = timed(record)
        lost = loss(next((c for c in candidates if c["edges"] == PICK), None), candidates)
        best, rho = min(candidates, key=seconds), rank_correlation(candidates)
        rows.append([record.case, len(candidates), "-" if rho is None else f"{rho:+.2f}",
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
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.set_xlabel("predicted, times the least")
    axes.set_ylabel("measured, times the least")
    axes.legend(fontsize="small")
    return figure


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, plot=plot, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
