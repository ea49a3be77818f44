"""Several steps of a loop of the host in one launch: diamonds over time and one coordinate, one block each.

A loop of the host over launches carries dependences that no step can wait for inside a launch, unless they stay in a
block.  With steps `s` (all launches of all iterations, numbered) and a coordinate `c` that no dependence changes by
more than `slope` a step, the diamonds `u = (slope s + c) / edge`, `v = (slope s - c) / edge` depend on no other diamond
of their wavefront `u + v`: the host walks the wavefronts, a block has a diamond.  In a block, tiles of the other
coordinates, skewed by their own slopes, follow one another, in each of them the steps, with a barrier behind each; the
instances of a step are dealt out to the work items.

Rewrite:  for t: launch(y, x)  ->  for w = u + v: launch(u): for q: for s: the work items share (y, x); barrier

Source: V. Bandishti, I. Pananilath, U. Bondhugula, "Tiling Stencil Computations to Maximize Parallelism", SC 2012;
T. Grosser et al., "Hybrid Hexagonal/Classical Tiling for GPUs", CGO 2014 (the tiles of the other coordinates).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from polysched.dependence.legality import Active, all_active, equal_parts
from polysched.gpu.bands import is_permutable, values_of
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch, TimeTiles
from polysched.gpu.options import GpuOptions
from polysched.gpu.staging import has_temporaries
from polysched.gpu.teams import active_within
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.budget import with_budget
from polysched.scop.points import isl_value


def with_time_tiles(schedule: Schedule, node: HostNode, *, options: GpuOptions) -> HostNode:
    """The same with wavefronts of diamonds in the place of loops of the host, where the dependences allow it."""
    if not options.time_tile:
        return node
    match node:
        case Launch():
            return node
        case HostSequence():
            parts = (with_time_tiles(schedule, part, options=options) for part in node.parts)
            return replace(node, parts=tuple(parts))
        case HostLoop():
            tiler = _Tiler(schedule=schedule, loop=node, options=options)
            tiled = with_budget(LIMITS.time_tile_operations, tiler.tiled)
            return tiled or replace(node, body=with_time_tiles(schedule, node.body, options=options))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Tiler:
    schedule: Schedule
    loop: HostLoop
    options: GpuOptions

    def tiled(self) -> HostLoop | None:
        """The wavefronts of a loop; None where it has none."""
        parts = self._parts()
        if not parts:
            return None
        outer = parts[0].host[:-1]
        domain = reduce(isl.UnionSet.union, (part.domain for part in parts))
        active = list(active_within(all_active(self.schedule.dependences), domain))
        for function in outer:
            active = equal_parts(active, values_of(function))
        step = self._step(parts)
        coordinates = [_joined([part.coordinates[k] for part in parts], parts)
                       for k in range(len(parts[0].coordinates))]
        slopes = [_slope(step, own, active, both=own is coordinates[-1]) for own in coordinates]
        known = [slope for slope in slopes if slope is not None]
        if len(known) != len(coordinates):
            return None
        edge = known[-1] * self.options.time_tile * len(parts)
        along = _scaled(step, known[-1])
        up, down = (_tile_of(function, edge) for function in (along.add(coordinates[-1]), along.sub(coordinates[-1])))
        edges = (LIMITS.time_tile_x, *(LIMITS.time_tile_y,) * len(coordinates))
        skewed = [_tile_of(_scaled(step, slope).add(own), own_edge)
                  for own, slope, own_edge in zip(coordinates[:-1], known[:-1], edges, strict=False)]
        tiles = TimeTiles(steps=(*reversed(skewed), step), dealt=tuple(coordinates), iterations=self.options.time_tile)
        wave = up.add(down)
        launch = Launch(name=parts[0].name, domain=domain, host=(*outer, wave), coordinates=(up,), block=(1,),
                        team=LIMITS.block_1d, tiles=tiles)
        return HostLoop(function=wave, body=launch)

    def _parts(self) -> tuple[Launch, ...]:
        """The launches of one iteration; none where there is anything else, or where they share no coordinates."""
        body = self.loop.body.parts if isinstance(self.loop.body, HostSequence) else (self.loop.body,)
        found = tuple(part for part in body if isinstance(part, Launch))
        counts = {len(part.coordinates) for part in found}
        if len(found) != len(body) or len(counts) != 1 or 0 in counts:
            return ()
        return () if any(has_temporaries(self.schedule.scop, part) for part in found) else found

    def _step(self, parts: Sequence[Launch]) -> isl.UnionPwAff:
        """All launches of all iterations numbered."""
        function = self.loop.function
        numbered = []
        for number, part in enumerate(parts):
            place = isl.UnionPwAff.val_on_domain(part.domain, isl_value(number))
            numbered.append(_scaled(function.intersect_domain(part.domain), len(parts)).add(place))
        return _joined(numbered, parts)


def _joined(functions: Sequence[isl.UnionPwAff], parts: Sequence[Launch]) -> isl.UnionPwAff:
    """One function of the functions of some launches, each on its own instances."""
    own = [function.intersect_domain(part.domain) for function, part in zip(functions, parts, strict=True)]
    return reduce(isl.UnionPwAff.union_add, own)


def _scaled(function: isl.UnionPwAff, factor: int) -> isl.UnionPwAff:
    return function.scale_val(isl_value(factor))


def _tile_of(function: isl.UnionPwAff, edge: int) -> isl.UnionPwAff:
    """The number of the tile of a value."""
    return function.scale_down_val(isl_value(edge)).floor()


def _slope(step: isl.UnionPwAff, coordinate: isl.UnionPwAff, active: list[Active], *, both: bool) -> int | None:
    """The least number of values of a coordinate per step that no dependence exceeds; None where there is none.

    Parameters
    ----------
    both : in both directions, else downwards alone.
    """
    for slope in range(1 if both else 0, LIMITS.most_slope + 1):
        along = _scaled(step, slope)
        members = (along.add(coordinate), along.sub(coordinate)) if both else (along.add(coordinate),)
        if is_permutable(members, active):
            return slope
    return None
