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
from math import prod
from typing import Protocol

from polysched.target.target import Target
from polysched.tiling.lower_bound import lower_bound
from polysched.tiling.nest import Nest
from polysched.tiling.plan import BandPlan, plan_structure
from polysched.tiling.strides import Stride
from polysched.tiling.tile_search import ROW_CYCLES
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
        core = (self.core_cycles(plan, structure) + self.start_cycles(plan, structure)) / self.target.frequency_hz
        return max(core, sum(self.transfer_seconds(plan, structure)))

    def core_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Arithmetic and loads of all instances, spread over the pipes; vectors where the row allows them."""
        nest, ports = plan.nest, self.target.ports
        if plan.shape is not None:
            lanes = self.target.lanes(8 * _element_bytes(nest))
            return plan.shape.cycles * _operations(nest) / 2 / lanes
        last = structure[-1].loop
        strides = [r.stride(last) for r in nest.references]
        vector = nest.row_independent[last] and Stride.OTHER not in strides
        lanes = self.target.lanes(8 * _element_bytes(nest)) if vector else 1
        loads = sum(s is not Stride.INVARIANT for s in strides) + sum(r.writes for r in nest.references)
        per_instance = max(nest.operations / ports.fma_pipes, loads / ports.loads_per_cycle)
        if not nest.row_independent[last]:
            per_instance = max(per_instance, ports.fma_latency_cycles * self.chain(nest))
        return nest.instances * nest.density * per_instance / lanes

    def chain(self, nest: Nest) -> float:
        """Dependent operations from one iteration of a sequential row to the next: at least the last one."""
        return max(1.0, nest.operations / 4)

    def start_cycles(self, plan: BandPlan, structure: tuple[Level, ...]) -> float:
        """Starting and leaving the innermost loops."""
        edges = list(plan.nest.extents)
        times = 1.0
        for level in structure[:-1]:
            times *= -(-edges[level.loop] // level.step)
            edges[level.loop] = min(level.step, edges[level.loop])
        if plan.shape is not None:
            times /= plan.shape.row_count * prod(min(edges[k], plan.nest.extents[k]) for k in plan.shape.inner)
        return times * min(1.0, plan.nest.density) * ROW_CYCLES

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
