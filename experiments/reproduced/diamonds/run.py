"""Tiles that may start at once, with diamonds and with a pipelined wavefront; see README.md.

    python experiments/reproduced/diamonds/run.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import islpy as isl

from polysched.dependence import analyse
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.tables import markdown_table
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scop import from_c_file
from polysched.scop.points import fix_parameters
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

KERNELS = Path(__file__).parents[3] / "tests" / "kernels"
HEADINGS = ("kernel", "tiles", "waves", "first wave", "widest wave", "first / widest", "waves at 90% of the widest")
WAYS = {"pipelined": 0, "diamond": 1}
# the share of the widest wave from which on a start counts as concurrent
CONCURRENT = 0.9
WITHOUT_FACE = ("seidel_2d",)


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name, parameters={"sizes": sizes}) for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The tiles of every wave, in order, for both ways of tiling."""
    dependences = analyse(from_c_file(KERNELS / f"{case.name}.c"))
    sizes = {p.name: case.parameters["sizes"][p.spelling] for p in dependences.scop.parameters}
    found = {}
    for way, directions in WAYS.items():
        report(way)
        schedule = pluto(dependences, options=SchedulerOptions(concurrent_start=directions, fusion="max"))
        options = TilingOptions(sizes=settings.config["edge"], register=None, parameters=sizes)
        found[way] = waves(tile(schedule, options), sizes)
    return found


def waves(tiled: TiledSchedule, sizes: dict[str, int]) -> list[int]:
    """Tiles per iteration of the outermost loop, which the second loop runs in parallel."""
    band = tiled.bands[0]
    if band.parallel_member != 1:
        raise ValueError(f"the second loop over tiles is not the parallel one: {band}")
    order = tiled.tree.get_map().intersect_domain(tiled.tree.get_domain())
    places = isl.Set("{ [w, p] : false }")
    dates = order.range().get_set_list()
    for at in range(dates.n_set()):
        own = fix_parameters(dates.get_at(at), sizes)
        own = own.project_out(isl.dim_type.set, 2, own.dim(isl.dim_type.set) - 2)
        places = places.union(own.reset_tuple_id())
    first = int(places.dim_min_val(0).to_python())
    last = int(places.dim_max_val(0).to_python())
    counts = [int(places.fix_val(isl.dim_type.set, 0, wave).count_val().to_python()) for wave in range(first, last + 1)]
    return [count for count in counts if count]


def figures(widths: Sequence[int]) -> tuple[int, int, int, int, float, float]:
    full = sum(width >= CONCURRENT * max(widths) for width in widths)
    return sum(widths), len(widths), widths[0], max(widths), widths[0] / max(widths), full / len(widths)


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in (r for r in records if r.done):
        for way in WAYS:
            *counts, start, full = figures(record.values[way])
            rows.append([f"{record.case}, {way}", *counts, f"{start:.0%}", f"{full:.0%}"])
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced"])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    wrong = []
    for record in (r for r in records if r.done):
        pipelined, diamond = (figures(record.values[way]) for way in WAYS)
        concurrent = diamond[4] >= CONCURRENT
        if pipelined[2] != 1 or concurrent is (record.case in WITHOUT_FACE):
            wrong.append(f"{record.case} starts with {pipelined[2]} tiles, diamonds with {diamond[4]:.0%} of a wave")
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
