"""The work items of a block, and the points of each: a search over both under what a multiprocessor holds.

From a block of the usual edges with one point each, a step doubles or halves an edge, moves a factor of two from one
edge to another, or doubles or halves the points along one coordinate.  The best step by the models is taken while it
gains.  What needs more registers or shared memory than there is, is not weighed but counted.

Source: the constraints are those of the CUDA C++ Programming Guide, Technical Specifications per Compute Capability;
why several points: V. Volkov, J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008, section 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property, partial
from math import ceil, prod
from statistics import geometric_mean
from typing import NamedTuple

import islpy as isl

from polysched.gpu.known import Known
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import BlockChoice, Launch
from polysched.gpu.options import BLOCKS
from polysched.gpu.throughput import LaunchModel, points_that_share
from polysched.gpu.warps import known_extent
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target.gpus import Gpu


class Sizes(NamedTuple):
    """Edges of a block, and points of a work item along each coordinate, fastest first."""

    block: tuple[int, ...]
    points: tuple[int, ...]


class Cost(NamedTuple):
    """Seconds of what takes longest, and of all that a kernel needs."""

    limiter: float
    total: float

    def is_less(self, other: Cost) -> bool:
        """Whether it is less by more than the model can be trusted with."""
        near = 1 - LIMITS.least_gain
        return self.limiter < near * other.limiter or (
            self.limiter <= other.limiter and self.total < near * other.total)


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockSearch:
    """What is searched for one launch.

    Parameters
    ----------
    scop : the program.
    start : with the usual block and one point, or with what was asked for.
    sized : the launch with other sizes, and the phases that follow from them.
    gpus : whose models weigh, each as much as any other, and whose registers bound a block.
    sizes : values of all parameters.
    blocks, points : whether these may change.
    exact : the sizes are those of the calls, so that blocks may suit them to the last multiprocessor.
    known : of the launch.
    """

    scop: Scop
    start: Launch
    sized: Callable[[Sizes], Launch]
    gpus: tuple[Gpu, ...]
    sizes: Mapping[str, int]
    blocks: bool
    points: bool
    exact: bool = True
    known: Known = field(default_factory=Known)

    def best(self) -> Launch:
        """The launch that the model expects to be the fastest, with what it was chosen from."""
        at = first = sizes_of(self.start)
        launches: dict[Sizes, Launch] = {}
        costs: dict[Sizes, Cost] = {}
        rejected: Counter[str] = Counter()
        while True:
            for own in (first, *self.steps(at)):
                if own not in launches:
                    launches[own] = self.start if own == first else self.sized(own)
                    reason = self.reason(launches[own])
                    costs[own] = self.cost(launches[own]) if reason is None else NEVER
                    rejected.update(() if reason is None else (reason,))
            better = min(self.steps(at), key=lambda own: costs[own], default=at)
            if not costs[better].is_less(costs[at]):
                break
            at = better
        choice = BlockChoice(gpus=tuple(gpu.name for gpu in self.gpus), tried=len(launches), usual=first.block,
                             rejected=dict(rejected), usual_points=first.points, seconds=costs[at].limiter,
                             usual_seconds=costs[first].limiter)
        return replace(launches[at], choice=choice)

    def steps(self, at: Sizes) -> Iterator[Sizes]:
        """The sizes next to some."""
        yield from (own for own in self._next(at) if all(map(self._has_values, range(len(own.block)), *own)))

    def _next(self, at: Sizes) -> Iterator[Sizes]:
        if self.blocks:
            yield from (Sizes(block, at.points) for block in _next_blocks(at.block)
                        if self._is_block(Sizes(block, at.points)))
        if self.points:
            for k, count in enumerate(at.points):
                if count < LIMITS.points_along and prod(at.points) * 2 <= LIMITS.most_points:
                    yield Sizes(at.block, _scaled(at.points, k, 2, 1))
                if count % 2 == 0 and self._has_grid(halved := Sizes(at.block, _scaled(at.points, k, 1, 2))):
                    yield halved

    def reason(self, launch: Launch) -> str | None:
        """What there is not enough of for a launch; None where it fits."""
        registers = registers_of(self.scop, launch, self.known)
        if registers > LIMITS.most_registers:
            return "registers of a work item"
        if registers * launch.items > min(gpu.registers for gpu in self.gpus):
            return "registers of a multiprocessor"
        if _stages(self.start) and not _stages(launch):
            return "room in shared memory, or reuse there"
        return None

    def cost(self, launch: Launch) -> Cost:
        """What the model expects, in the geometric mean over the GPUs."""
        registers = registers_of(self.scop, launch, self.known)
        models = (LaunchModel(scop=self.scop, launch=launch, gpu=gpu, sizes=self.sizes, registers=registers,
                              whole_waves=self.exact, known=self.known) for gpu in self.gpus)
        seconds = [model.seconds().values() for model in models]
        return Cost(geometric_mean(map(max, seconds)), geometric_mean(map(sum, seconds)))

    def _has_values(self, which: int, edge: int, count: int) -> bool:
        """Whether every point along a coordinate has a value, at least in the first block."""
        domain, function = self.start.domain, self.start.coordinates[which]
        return count == 1 or edge * (count - 1) < known_extent(self.known, domain, function, self.sizes)

    def _is_block(self, sizes: Sizes) -> bool:
        """Whether a block has a warp at least, no more work items than all devices run, and a grid that all have."""
        if not max(gpu.warp for gpu in self.gpus) <= prod(sizes.block) <= LIMITS.block_1d:
            return False
        edges = zip(sizes.block, sizes.points, self.start.edges, self._bounded, strict=True)
        return all(own * count >= least or is_bounded for own, count, least, is_bounded in list(edges)[1:])

    def _has_grid(self, sizes: Sizes) -> bool:
        """Whether no part of the grid gets longer than with the usual block and one point, or from the start."""
        edges = zip(sizes.block, sizes.points, self.start.edges, BLOCKS[len(sizes.block)], self._bounded, strict=True)
        return all(own * count >= min(first, usual) or is_bounded
                   for own, count, first, usual, is_bounded in list(edges)[1:])

    @cached_property
    def _bounded(self) -> list[bool]:
        """Whether each coordinate has no more values for any sizes: its part of the grid then never gets too long."""
        return [_is_bounded(self.start.domain, own) for own in self.start.coordinates]


NEVER = Cost(float("inf"), float("inf"))


def sizes_of(launch: Launch) -> Sizes:
    """The sizes that a launch has."""
    return Sizes(launch.block, launch.points or (1,) * len(launch.block))


def _next_blocks(block: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """An edge doubled or halved, and a factor of two moved from one edge to another."""
    for k, edge in enumerate(block):
        yield _scaled(block, k, 2, 1)
        if edge % 2 == 0:
            halved = _scaled(block, k, 1, 2)
            yield halved
            yield from (_scaled(halved, other, 2, 1) for other in range(len(block)) if other != k)


def _scaled(edges: tuple[int, ...], which: int, by: int, over: int) -> tuple[int, ...]:
    return (*edges[:which], edges[which] * by // over, *edges[which + 1:])


def _stages(launch: Launch) -> bool:
    return any(phase.staged for phase in launch.phases)


def _is_bounded(domain: isl.UnionSet, function: isl.UnionPwAff) -> bool:
    values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(function).intersect_domain(domain).range())
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    kinds = isl.dim_type.set
    return bool(values.dim_has_upper_bound(kinds, 0) and values.dim_has_lower_bound(kinds, 0))


def registers_of(scop: Scop, launch: Launch, known: Known | None = None) -> int:
    """An estimate of the registers of a work item: what its points keep and what they read at once."""
    known, most = known or Known(), 0
    for phase in launch.phases:
        words = 0.0
        for statement in scop.statements:
            runs = known.once(("runs", statement, phase.domain),
                              partial(launch.runs_any_of, statement, phase.domain))
            for access in statement.accesses if runs else ():
                width = scop.array(access.array).dtype.bytes / 4
                words += 0 if access.array in phase.kept else (
                    width * launch.points_of_item / points_that_share(launch, statement, access, known))
        words += sum(launch.points_of_item * scop.array(name).dtype.bytes / 4 for name in phase.kept)
        most = max(most, ceil(words))
    return LIMITS.fixed_registers + most
