"""What caches miss when emitted loops run, by simulation: beside the traffic that the models predict.

The loops are those that are emitted, on one core; operands stand in their arrays, at addresses that begin at a page
each.  Copies into packed buffers, vectors, prefetches and other threads are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from polysched.errors import RunFailedError, UsageError
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.programs.bounds import extents_at
from polysched.measure.programs.cache_source import Place, simulator_text, statement_text
from polysched.measure.programs.instance_trace import traced_function
from polysched.measure.programs.point_count import count_points
from polysched.records import dataclass
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop
from polysched.target import Compiler, find_compiler
from polysched.target.target import CacheLevel
from polysched.tiling.explain import BandExplanation
from polysched.tiling.tiled_schedule import TiledSchedule

CHILD_MODULE = "polysched.measure.programs.cache_run"
FLAGS = ("-std=gnu11", "-O2")
PAGE_BYTES = 4096
MOST_ACCESSES = 2_000_000_000
"""About a minute of simulation."""
SECONDS = 300
MANY_CONFLICTS = 0.25
"""Of a level's misses, the share of conflicts from which a warning is given."""


@dataclass(frozen=True, kw_only=True)
class LevelCounts:
    """What one cache did.

    Parameters
    ----------
    misses : lines that it had to fetch.
    write_backs : dirty lines that it gave up while the loops ran.
    last_write_backs : those that it gives up behind the loops, the nearest cache first.
    misses_without_sets, write_backs_without_sets, last_write_backs_without_sets : of caches of the same sizes whose
        lines may stand anywhere.
    by_array : the misses of each array.
    """

    level: int
    capacity_bytes: int
    line_bytes: int
    misses: int
    write_backs: int
    misses_without_sets: int
    write_backs_without_sets: int
    last_write_backs: int
    last_write_backs_without_sets: int
    by_array: Mapping[str, int]

    @property
    def bytes_moved(self) -> int:
        """Into the cache and back while the loops run."""
        return (self.misses + self.write_backs) * self.line_bytes

    @property
    def bytes_without_sets(self) -> int:
        """The same of the cache whose lines may stand anywhere."""
        return (self.misses_without_sets + self.write_backs_without_sets) * self.line_bytes

    @property
    def conflict_misses(self) -> int:
        """Misses that only the sets cause; at times sets help, and there are none."""
        return max(0, self.misses - self.misses_without_sets)

    @property
    def many_conflicts(self) -> bool:
        """Whether sets cause a large share of the misses."""
        return self.conflict_misses > MANY_CONFLICTS * self.misses

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {"level": self.level, "capacity_bytes": self.capacity_bytes, "line_bytes": self.line_bytes,
                "misses": self.misses, "write_backs": self.write_backs, "conflict_misses": self.conflict_misses,
                "bytes_moved": self.bytes_moved, "misses_by_array": dict(self.by_array)}


@dataclass(frozen=True, kw_only=True)
class CacheCounts:
    """The result of a simulation.

    Parameters
    ----------
    sizes : the values of the parameters.
    accesses : of array elements.
    levels : nearest first.
    """

    sizes: Mapping[str, int]
    accesses: int
    levels: tuple[LevelCounts, ...]

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {"sizes": dict(self.sizes), "accesses": self.accesses, "levels": [c.to_json() for c in self.levels]}


def simulate(tiled: TiledSchedule, sizes: Mapping[str, int], caches: Sequence[CacheLevel], *,
             compiler: Compiler | None = None) -> CacheCounts:
    """Run the loops of a schedule on simulated caches.

    Parameters
    ----------
    sizes : a value for every parameter.
    caches : nearest first, all of one line.

    Raises
    ------
    UsageError : a size is missing or outside the program's, an access depends on data or leaves its array, or there
        are too many accesses.
    """
    scop = tiled.schedule.scop
    _check(scop, sizes, caches)
    places, total = _places(scop, sizes)
    names = [p.name for p in scop.parameters]
    calls = ", ".join(f"size_{at}" for at in range(len(names)))
    declared = ", ".join(["long *counts", *(f"long size_{at}" for at in range(len(names)))])
    text = "".join([simulator_text(caches, arrays=len(places), total_bytes=total),
                    *(statement_text(scop, n, s, sizes, places) for n, s in enumerate(scop.statements)),
                    "".join(f"#define polysched_trace_{word}(kind)\n" for word in ("begin", "iteration", "end")),
                    "static ", traced_function(tiled, name="loops"),
                    f"__attribute__((visibility(\"default\"))) void simulate({declared})\n"
                    f"{{\n  if (!started()) return;\n  loops({calls});\n  counted(counts);\n}}\n"])
    numbers = _run(text, [sizes[name] for name in names], 2 + len(caches) * (6 + max(1, len(places))),
                   compiler or find_compiler(), scop)
    if numbers[0] < 0:
        raise RunFailedError(f"the simulated caches of {scop.name} had no memory")
    if numbers[1]:
        raise UsageError(f"{numbers[1]} accesses of {scop.name} leave the arrays", where=scop.name)
    return _counts(numbers, sizes, caches, list(places))


def predicted_bytes(bands: Sequence[BandExplanation], scop: Scop, sizes: Mapping[str, int]) -> dict[int, int]:
    """What the models predict into each cache, back included; empty where they were asked about less than the region.

    Parameters
    ----------
    bands : those that the models looked at.
    sizes : those of the simulation; predictions at others are none for it.
    """
    plans = [band.plan for band in bands if band.plan is not None]
    if any(sizes.get(name, value) != value for plan in plans for name, value in plan.nest.parameters.items()):
        return {}
    covered = sum(prod(plan.nest.extents) for plan in plans)
    if covered < max((count_points(fix_parameters(s.domain, sizes)) for s in scop.statements), default=0):
        return {}   # a band inside of other loops
    total: dict[int, int] = {}
    for band in bands:
        for level in band.levels:
            total[level.level] = total.get(level.level, 0) + (
                level.untiled_bytes if band.untiled else level.tiled_bytes)
    return total


def _check(scop: Scop, sizes: Mapping[str, int], caches: Sequence[CacheLevel]) -> None:
    missing = [p.name for p in scop.parameters if p.name not in sizes]
    if missing:
        raise UsageError(f"caches are simulated at one size, and {', '.join(missing)} has no value", where=scop.name,
                         hint=f"--size {missing[0]}=256")
    if not caches or len({c.line_bytes for c in caches}) > 1:
        raise UsageError("the simulator takes caches of one line length", where=scop.name,
                         witness=", ".join(f"L{c.level}: {c.line_bytes} bytes" for c in caches) or "no caches")
    if fix_parameters(scop.context, sizes).is_empty():
        raise UsageError("the program does not run at these sizes", where=scop.name,
                         witness=", ".join(f"{k} = {v}" for k, v in sizes.items()))
    accesses = sum(count_points(fix_parameters(s.domain, sizes)) * len(s.accesses) for s in scop.statements)
    if accesses > MOST_ACCESSES:
        raise UsageError(f"{accesses:.2g} accesses are too many to simulate, {MOST_ACCESSES:.0e} at most",
                         where=scop.name, hint="--size with smaller values")


def _places(scop: Scop, sizes: Mapping[str, int]) -> tuple[dict[str, Place], int]:
    """Where each array stands, and how many bytes there are."""
    places: dict[str, Place] = {}
    begin = 0
    for array in scop.arrays:
        if array.is_scalar:
            continue
        extents = [max(1, extent) for extent in extents_at(scop, array, sizes)]
        strides = tuple(prod(extents[at + 1:]) * array.dtype.bytes for at in range(len(extents)))
        places[array.name] = Place(name=array.name, number=len(places), begin=begin,
                                   element_bytes=array.dtype.bytes, strides=strides)
        begin += -(-prod(extents) * array.dtype.bytes // PAGE_BYTES) * PAGE_BYTES
    return places, begin


def _run(text: str, values: Sequence[int], count: int, compiler: Compiler, scop: Scop) -> list[int]:
    with TemporaryDirectory(prefix="polysched-caches-") as temporary:
        folder = Path(temporary)
        binary = compile_shared(text, name="caches", folder=folder, compiler=compiler, flags=FLAGS, openmp=False,
                                what="the simulated caches")
        request = {"library": str(binary.path), "values": values, "count": count, "counts": str(folder / "counts.npy")}
        end = run_isolated(CHILD_MODULE, request, folder=folder, limits=Limits(seconds=SECONDS))
        if end.end is not End.FINISHED:
            raise RunFailedError(f"the simulated caches of {scop.name} {end.describe()}")
        return [int(number) for number in np.load(folder / "counts.npy")]


def _counts(numbers: Sequence[int], sizes: Mapping[str, int], caches: Sequence[CacheLevel],
            arrays: Sequence[str]) -> CacheCounts:
    width = 6 + max(1, len(arrays))
    levels = []
    for at, cache in enumerate(caches):
        own = numbers[2 + at * width:2 + (at + 1) * width]
        misses, write_backs, whole, whole_backs, last, whole_last, *by_array = own
        levels.append(LevelCounts(
            level=cache.level, capacity_bytes=cache.size_bytes, line_bytes=cache.line_bytes, misses=misses,
            write_backs=write_backs, misses_without_sets=whole, write_backs_without_sets=whole_backs,
            last_write_backs=last, last_write_backs_without_sets=whole_last,
            by_array=dict(zip(arrays, by_array, strict=False))))
    return CacheCounts(sizes=dict(sizes), accesses=numbers[0], levels=tuple(levels))
