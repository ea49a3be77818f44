"""Questions about tiles: what one touches, what fits into a cache, and what a simulated cache misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.errors import UsageError
from polysched.measure.programs.cache_simulation import CacheCounts, simulate
from polysched.measure.programs.point_count import count_points
from polysched.notebook.tutorial.answers import Verdict, as_number, right, wrong
from polysched.records import dataclass
from polysched.scheduling.primitives import Tile
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import apply
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop
from polysched.target.target import CacheLevel
from polysched.tiling.tiled_schedule import TiledSchedule


@dataclass(frozen=True, eq=False, kw_only=True)
class FootprintOf:
    """How many elements of an array does one tile touch?  The answer is a number.

    Parameters
    ----------
    edges, corner : iterations of the tile in each loop, and its first iteration.
    sizes : a value of every parameter.
    """

    scop: Scop
    array: str
    edges: Sequence[int]
    corner: Sequence[int]
    sizes: Mapping[str, int]
    statement: str = "S0"

    expects = "a whole number"

    def judge(self, answer: object) -> Verdict:
        """By isl: the image of the tile under all accesses of the array, and its points counted."""
        given = as_number(answer)
        image = _image(self.scop, self.statement, self.array, self.edges, self.corner, self.sizes)
        found = count_points(image)
        if given == found:
            return right(f"{found} elements of {self.array}")
        rows = [f"{image.dim_min_val(at)} to {image.dim_max_val(at)}" for at in range(image.dim(isl.dim_type.set))]
        return wrong(f"{given} is too {'many' if given > found else 'few'}",
                     f"the tile reaches {self.array}[{']['.join(rows)}]; count an element once")


@dataclass(frozen=True, eq=False, kw_only=True)
class LargestCube:
    """How large is the largest cube of iterations whose elements fit into a cache?  The answer is an edge.

    Parameters
    ----------
    capacity_bytes : of the cache.
    sizes : a value of every parameter.
    """

    scop: Scop
    capacity_bytes: int
    sizes: Mapping[str, int]
    statement: str = "S0"

    expects = "a whole number"

    def judge(self, answer: object) -> Verdict:
        """By counting what a tile with this edge touches, and one with the next."""
        edge = as_number(answer)
        if edge < 1:
            raise UsageError("a tile has an edge of at least 1", witness=str(edge))
        own, next_one = self._bytes(edge), self._bytes(edge + 1)
        if own > self.capacity_bytes:
            return wrong(f"a tile with edge {edge} touches {own} bytes",
                         f"the cache has {self.capacity_bytes}")
        if next_one <= self.capacity_bytes:
            return wrong(f"a tile with edge {edge + 1} fits, too", f"it touches {next_one} bytes of "
                         f"{self.capacity_bytes}")
        return right(f"{own} bytes of {self.capacity_bytes}; edge {edge + 1} touches {next_one}")

    def _bytes(self, edge: int) -> int:
        statement = self.scop.statement(self.statement)
        edges, corner = [edge] * len(statement.iterators), [0] * len(statement.iterators)
        return sum(array.dtype.bytes * count_points(_image(self.scop, self.statement, array.name, edges, corner,
                                                           self.sizes))
                   for array in self.scop.arrays if any(a.array == array.name for a in statement.accesses))


@dataclass(frozen=True, eq=False, kw_only=True)
class FewerMisses:
    """Which tiles make a cache miss less?  The answer is a tuple of edges.

    Parameters
    ----------
    loops : those that are tiled.
    cache : the only one of an imaginary machine.
    most : of the misses of the loops without tiles, the share that may be left.
    """

    start: Schedule
    loops: tuple[str, ...]
    sizes: Mapping[str, int]
    cache: CacheLevel
    most: float

    expects = "a tuple of tile edges"

    def judge(self, answer: object) -> Verdict:
        """By compiling the loops and running them on a simulated cache."""
        if not isinstance(answer, tuple | list) or len(answer) != len(self.loops):
            raise UsageError(f"the answer should be a tuple of {len(self.loops)} edges",
                             witness=f"it is {answer!r}"[:80])
        edges = tuple(as_number(edge) for edge in answer)
        tiled = apply(self.start, Tile(loops=self.loops, sizes=edges))
        before, after = (misses(s, self.sizes, self.cache) for s in (self.start, tiled))
        told = f"{after} misses with these tiles, {before} without: {100 * after / before:.0f}%"
        if after <= self.most * before:
            return right(told)
        return wrong(told, f"at most {100 * self.most:.0f}% are wanted; a cache line holds {self.cache.line_bytes} "
                     f"bytes, and the cache {self.cache.size_bytes}")


def simulated(schedule: Schedule, sizes: Mapping[str, int], cache: CacheLevel) -> CacheCounts:
    """What one simulated cache does while the loops of a schedule run."""
    return simulate(TiledSchedule(schedule=schedule, tree=schedule.tree), sizes, [cache])


def misses(schedule: Schedule, sizes: Mapping[str, int], cache: CacheLevel) -> int:
    """The lines that one simulated cache has to fetch."""
    return simulated(schedule, sizes, cache).levels[0].misses


def _image(scop: Scop, name: str, array: str, edges: Sequence[int], corner: Sequence[int],
           sizes: Mapping[str, int]) -> isl.Set:
    """The elements of an array that a box of instances touches."""
    statement = scop.statement(name)
    box = fix_parameters(statement.domain, sizes)
    for at, (first, edge) in enumerate(zip(corner, edges, strict=True)):
        box = box.lower_bound_val(isl.dim_type.set, at, isl.Val(first)).upper_bound_val(
            isl.dim_type.set, at, isl.Val(first + edge - 1))
    images = [fix_parameters(a.relation, sizes).intersect_domain(box).range()
              for a in statement.accesses if a.array == array]
    if not images:
        raise UsageError(f"{name} does not touch {array}")
    image = images[0]
    for more in images[1:]:
        image = image.union(more)
    return image
