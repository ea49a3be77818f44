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
from dataclasses import dataclass
from typing import Protocol

from polysched.target.target import Target
from polysched.tiling.lower_bound import lower_bound
from polysched.tiling.nest import Nest
from polysched.tiling.plan import BandPlan, plan_structure
from polysched.tiling.strides import Stride
from polysched.tiling.tile_search import row_cycles
from polysched.tiling.traffic import Level, traffic_bytes


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
        arithmetic = _operations(nest) / self.target.peak_flops(8 * _element_bytes(nest))
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
        return max(core, sum(self.transfer_seconds(plan, structure)))

    def core_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Arithmetic and loads of all instances spread over the pipes, starts of rows, and waiting along them."""
        nest, ports, shape = plan.nest, self.target.ports, plan.shape
        instances = nest.instances * nest.density
        last = structure[-1].loop if shape is None else shape.inner[-1]
        edge = min(nest.extents[last], plan.edges[last] or nest.extents[last])
        beside = row_cycles(nest, shape, last, edge, self.target)
        if shape is not None:
            lanes = self.target.lanes(8 * _element_bytes(nest))
            return instances * (shape.cycles * nest.operations / 2 / lanes + beside)
        strides = [r.stride(last) for r in nest.references]
        vector = nest.row_independent[last] and Stride.OTHER not in strides
        lanes = self.target.lanes(8 * _element_bytes(nest)) if vector else 1
        loads = sum(s is not Stride.INVARIANT for s in strides) + sum(r.writes for r in nest.references)
        pipes = max(nest.operations / ports.fma_pipes, loads / ports.loads_per_cycle)
        return instances * (pipes / lanes + beside)

    def transfer_seconds(self, plan: BandPlan, structure: tuple[Level, ...]) -> list[float]:
        """Per cache level, the time in which the next level out delivers what it needs."""
        times = []
        for cache, outer in zip(self.target.caches, (*(c.level for c in self.target.caches[1:]), 0), strict=True):
            moved = sum(traffic_bytes(plan.nest, structure, cache.size_bytes // cache.shared_by, cache.line_bytes))
            times.append(moved * min(1.0, plan.nest.density) / self.target.bandwidth(outer))
        return times


@dataclass(frozen=True, kw_only=True)
class Profiled:
    """What a run takes; `run` compiles and times a plan and is given by a later room."""

    run: Callable[[BandPlan], float]
    name: str = "profiled"

    def seconds(self, plan: BandPlan) -> float:
        return self.run(plan)


def _operations(nest: Nest) -> float:
    return nest.instances * nest.density / max(1, len(nest.deepest)) * nest.operations


def _element_bytes(nest: Nest) -> int:
    return max((r.element_bytes for r in nest.references), default=8)
