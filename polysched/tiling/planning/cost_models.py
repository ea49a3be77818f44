"""Three cost models behind one interface: speed of light, projected, profiled.

Each answers how long one execution of a tiled nest takes on one core; each has its purpose:

- `SpeedOfLight`: no program that does these operations on this data can be faster.  Says how much is left.
- `Projected`: what the loops as planned cost on the target's ports and caches.  Ranks candidates without
  running them.
- `Profiled`: what they cost when run.  The judge; dear.

Source: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009 (speed of light); H. Stengel,
J. Treibig, G. Hager, G. Wellein, "Quantifying Performance Bottlenecks of Stencil Computations Using the
Execution-Cache-Memory Model", ICS 2015, section 3 (transfers between levels add up, and overlap with the core's
arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from polysched.records import dataclass
from polysched.target.target import Target
from polysched.tiling.footprints.lower_bound import lower_bound
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.footprints.traffic import Boxes, Level, traffic_bytes
from polysched.tiling.planning.band_plan import BandPlan, plan_structure
from polysched.tiling.planning.register_shape import cut_share, start_cycles
from polysched.tiling.planning.tile_problem import row_cycles


class CostModel(Protocol):
    """Seconds of one execution of a planned nest on one core."""

    @property
    def name(self) -> str:
        """How tables call the model."""

    def seconds(self, plan: BandPlan) -> float:
        """The estimate."""


@dataclass(frozen=True, kw_only=True)
class SpeedOfLight:
    """Operations over the peak, or compulsory traffic over the memory's bandwidth, whichever is longer."""

    target: Target
    name: str = "speed of light"

    def seconds(self, plan: BandPlan) -> float:
        nest = plan.nest
        arithmetic = _operations(nest) / self.target.peak_flops(8 * nest.element_bytes)
        last = self.target.caches[-1]
        moved = lower_bound(nest, last.size_bytes).compulsory_bytes / self.target.bandwidth(0)
        return max(arithmetic, moved)


@dataclass(frozen=True, kw_only=True)
class Projected:
    """Cycles in the core beside the transfers between all levels of the caches."""

    target: Target
    name: str = "projected"

    def seconds(self, plan: BandPlan) -> float:
        structure = plan_structure(plan)
        core = self.core_cycles(plan, structure) / self.target.frequency_hz
        return self.together(plan, structure, core, block=plan.shape is not None)

    def together(self, plan: BandPlan, structure: tuple[Level, ...], core_seconds: float, *, block: bool,
                 warm: tuple[frozenset[int], ...] = ()) -> float:
        """Arithmetic beside everything else; loads of whole rows and transfers between caches one after the other.

        Nothing is under way yet when a row starts.  A register block loads so little that its loads hide behind its
        arithmetic too, and most of what the caches deliver does.

        Parameters
        ----------
        warm : per cache, the references whose data are there already (`warm_data`).
        """
        transfers = sum(self.transfer_seconds(plan, structure, warm))
        if block:
            return core_seconds + self.target.costs.unhidden_share * transfers
        starts = self.start_cycles(plan, structure) / self.target.frequency_hz
        loads = self.load_cycles(plan, structure) / self.target.frequency_hz
        return starts + max(core_seconds - starts, loads + transfers)

    def core_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Arithmetic and loads of all instances spread over the pipes, starts of rows, and waiting along them.

        Register blocks are cut off at the end of a tile whose edges are no multiples of theirs.
        """
        nest, shape = plan.nest, plan.shape
        if shape is not None:
            lanes = self.target.lanes(8 * nest.element_bytes)
            cut = cut_share(shape, _edge(plan, shape.rows), _edge(plan, shape.columns), lanes, self.target)
            sums = _iterations(nest) * shape.cycles * nest.operations / 2 / lanes * cut
            return sums + self.start_cycles(plan, structure)
        last = structure[-1].loop
        rows = _iterations(nest) * row_cycles(nest, None, last, _edge(plan, last), self.target)
        return max(self.arithmetic_cycles(plan, structure), self.load_cycles(plan, structure)) + rows

    def start_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Starts of rows; of register blocks, loading and storing their sums around each row."""
        nest, shape = plan.nest, plan.shape
        if shape is None:
            return _iterations(nest) * self.target.costs.row_cycles / _edge(plan, structure[-1].loop)
        rows, columns, steps = (_edge(plan, loop) for loop in (shape.rows, shape.columns, shape.inner[-1]))
        cycles = start_cycles(
            (shape.row_count, shape.column_count), rows, columns, self.target.lanes(8 * nest.element_bytes),
            row=self.target.costs.row_cycles, loads_per_cycle=self.target.ports.loads_per_cycle)
        return _iterations(nest) / (rows * columns * steps) * cycles

    def arithmetic_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Arithmetic of all instances spread over the pipes, outside register blocks."""
        nest = plan.nest
        return (_iterations(nest) * nest.instructions / self.target.multiply_adds_per_cycle
                / self._lanes(nest, structure[-1].loop))

    def load_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Loads and stores of all instances between the first cache and the registers."""
        nest, last = plan.nest, structure[-1].loop
        moving = [r for r in nest.references if r.stride(last) is not Stride.INVARIANT]
        accesses = sum(r.places for r in moving) + sum(r.writes for r in nest.references)
        return _iterations(nest) * accesses / self.target.ports.loads_per_cycle / self._lanes(nest, last)

    def _lanes(self, nest: Nest, last: int) -> int:
        vector = nest.row_independent[last] and Stride.OTHER not in [r.stride(last) for r in nest.references]
        return self.target.lanes(8 * nest.element_bytes) if vector else 1

    def transfer_seconds(self, plan: BandPlan, structure: tuple[Level, ...],
                         warm: tuple[frozenset[int], ...] = ()) -> list[float]:
        """Per cache level, the time in which the next level out delivers what it needs."""
        times = []
        outer_levels = (*(c.level for c in self.target.caches[1:]), 0)
        there = warm or (frozenset(),) * len(outer_levels)
        boxes = Boxes.of(plan.nest, structure)
        for cache, outer, known in zip(self.target.caches, outer_levels, there, strict=True):
            every = traffic_bytes(plan.nest, structure, cache.size_bytes // cache.shared_by, cache.line_bytes,
                                  boxes=boxes)
            moved = sum(size for k, size in enumerate(every) if k not in known)
            times.append(moved * min(1.0, _occupied(plan.nest)) / self.target.bandwidth(outer))
        return times


@dataclass(frozen=True, kw_only=True)
class Profiled:
    """What a run takes; `run` compiles and times a plan and is given by a later room."""

    run: Callable[[BandPlan], float]
    name: str = "profiled"

    def seconds(self, plan: BandPlan) -> float:
        return self.run(plan)


def _operations(nest: Nest) -> float:
    return _iterations(nest) * nest.operations


def _iterations(nest: Nest) -> float:
    """Points of the loops where the deepest statements run, one instance of each."""
    return nest.instances * _occupied(nest)


def _edge(plan: BandPlan, loop: int) -> int:
    """Iterations of a loop in one tile."""
    return min(plan.nest.extents[loop], plan.edges[loop] or plan.nest.extents[loop])


def _occupied(nest: Nest) -> float:
    """The share of the bounding box that has instances."""
    return nest.density / max(1, len(nest.deepest))
