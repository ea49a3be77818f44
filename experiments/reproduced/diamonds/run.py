"""Tiles that may start at once, with diamonds and with a pipelined wavefront, and times of both; see README.md.

    python experiments/reproduced/diamonds/run.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl

from polysched.dependence import analyse
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.candidates import WRITTEN, VersionedFunction, raced
from polysched.experiment.claims import Claim, at_least
from polysched.experiment.tables import markdown_table
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_file
from polysched.scop.points import fix_parameters
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

KERNELS = Path(__file__).parents[3] / "tests" / "kernels"
HEADINGS = ("kernel", "tiles", "waves", "first wave", "widest wave", "first / widest", "waves at 90% of the widest",
            "ms", "times as fast as the C file")
WAYS = {"pipelined": 0, "diamond": 1}
# the share of the widest wave from which on a start counts as concurrent
CONCURRENT = 0.9
WITHOUT_FACE = ("seidel_2d",)
# the least speed-up of the abstract of 2017
PUBLISHED = 1.3


def cases(settings: Settings) -> list[Case]:
    timed = settings.config["timed"]
    return [Case(name=name, parameters={"sizes": sizes, "timed": timed[name]})
            for name, sizes in settings.config["kernels"].items()]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """The tiles of every wave, in order, for both ways of tiling; and their times, with tiles by the model."""
    dependences = analyse(from_c_file(KERNELS / f"{case.name}.c"))
    sizes = {p.name: case.parameters["sizes"][p.spelling] for p in dependences.scop.parameters}
    found: dict[str, Any] = {}
    schedules = {}
    for way, directions in WAYS.items():
        report(way)
        schedules[way] = pluto(dependences, options=SchedulerOptions(concurrent_start=directions, fusion="max"))
        options = TilingOptions(sizes=settings.config["edge"], register=None, parameters=sizes)
        found[way] = waves(tile(schedules[way], options), sizes)
    return found | times(schedules, case, settings, report)


def times(schedules: dict[str, Schedule], case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Median seconds of the C file and of both ways at every edge, which have to agree with it.

    Diamonds are made in two ways: by a schedule for which boxes are diamonds, and by tiles of the usual schedule.
    """
    sizes, threads = case.parameters["timed"], settings.threads[0]
    scop = schedules["diamond"].scop
    report("tiling")
    tiled: dict[str, TiledSchedule] = {}
    for edge in settings.config["timed_edges"]:
        options = TilingOptions(target=replace(host(), cores=threads), split=False, sizes=edge,
                                parameters={p.name: sizes[p.spelling] for p in scop.parameters})
        tiled |= {f"{way}, {edge}": tile(schedule, options) for way, schedule in schedules.items()}
        tiled[f"diamond tiles, {edge}"] = tile(schedules["pipelined"], replace(options, split=None, diamond=True))
    with tempfile.TemporaryDirectory(prefix="polysched-diamonds-") as name:
        kernel = VersionedFunction(scop=scop, sizes=sizes, folder=Path(name), openmp=True)
        return {"threads": threads, **raced(kernel, tiled, settings, report, threads=threads)}


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


def best(values: Mapping[str, Any], way: str) -> float | None:
    """The least seconds of a way over its edges; None where none was verified."""
    return min((taken for name, taken in values.get("seconds", {}).items() if name.startswith(way)), default=None)


def speed(values: Mapping[str, Any], way: str) -> tuple[str, str]:
    """Milliseconds, and how many times as fast as the C file."""
    own, written = best(values, way), best(values, WRITTEN)
    if own is None or written is None:
        return "-", "-"
    return f"{1e3 * own:.1f}", f"{written / own:.2f}"


def gain(records: Sequence[Record]) -> float | None:
    """The geometric mean of (pipelined / diamonds), over the kernels with a face and verified times; None without."""
    both = [[best(r.values, way) for way in WAYS] for r in records if r.done and r.case not in WITHOUT_FACE]
    ratios = [p / d for p, d in both if p and d]
    return statistics.geometric_mean(ratios) if ratios else None


def table(records: Sequence[Record]) -> str:
    rows = []
    for record in (r for r in records if r.done):
        for way in WAYS:
            *counts, start, full = figures(record.values[way])
            rows.append([f"{record.case}, {way}", *counts, f"{start:.0%}", f"{full:.0%}", *speed(record.values, way)])
    failed = [f"- {r.case}, {name}: {problem}" for r in records if r.done
              for name, problem in r.values.get("problems", {}).items()]
    return "\n".join([markdown_table(HEADINGS, rows), "", verdict(records) or "reproduced", *failed])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    wrong = []
    for record in (r for r in records if r.done):
        pipelined, diamond = (figures(record.values[way]) for way in WAYS)
        concurrent = diamond[4] >= CONCURRENT
        if pipelined[2] != 1 or concurrent is (record.case in WITHOUT_FACE):
            wrong.append(f"{record.case} starts with {pipelined[2]} tiles, diamonds with {diamond[4]:.0%} of a wave")
    wrong += [f"{r.case}, {way} has no verified time" for r in records if r.done for way in WAYS
              if best(r.values, way) is None]
    if (found := gain(records)) is not None and found < PUBLISHED:
        wrong.append(f"diamonds are {found:.2f} times as fast as the pipeline, and {PUBLISHED:.2f} is published")
    return f"not reproduced: {'; '.join(wrong)}" if wrong else ""


def claims(records: Sequence[Record]) -> list[Claim]:
    """What the abstracts state, beside ours."""
    starts = [figures(r.values["diamond"])[4] for r in records if r.case not in WITHOUT_FACE]
    least, found = min(starts, default=None), gain(records)
    asked, concurrent = at_least(CONCURRENT, least)
    faster, enough = at_least(PUBLISHED, found)
    return [Claim(what="tiles of the widest wave that start at once, share, least", ours=least, published=1.0,
                  asked=asked, holds=concurrent,
                  source="all tiles along a face start at once: abstracts of SC 2012 and TPDS 28(5), 2017"),
            Claim(what="diamonds, times as fast as pipelined tiles, mean", ours=found, published=PUBLISHED,
                  asked=faster, holds=enough,
                  source="1.3 to 10.1 times as fast as earlier compilers, 12 cores: abstract of TPDS 28(5), 2017")]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims, times_calls=True)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
