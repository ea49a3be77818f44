"""The ScratchpadMapping value: groups with tiles, buffers, places, and what the simulator says of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import ceil, prod
from typing import Any

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.gpu.mapping import HostNode
from polysched.gpu.scratchpad.bound import io_bytes, moved_off_chip
from polysched.gpu.scratchpad.choice import PlacedGroup
from polysched.gpu.scratchpad.instructions import Costing
from polysched.gpu.scratchpad.simulation import Timeline, simulate
from polysched.gpu.scratchpad.stages import CubeStage
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.target.scratchpads.description import MEMORY, ScratchpadTarget
from polysched.tensorize.registry import find_intrinsic


@dataclass(frozen=True, eq=False, kw_only=True)
class ScratchpadMapping(Shown):
    """A legal mapping of a program of known sizes to an accelerator with buffers of its own.

    Parameters
    ----------
    target : the accelerator.
    sizes : of the parameters.
    schedule : the order within stages; of the program at these sizes.
    host : loops outside, with the groups as launches.
    groups : by the names of their launches.
    tree : the order of all instances as mapped; it has passed the legality check.
    double_buffering : whether tiles take copies of buffers in turn.
    """

    target: ScratchpadTarget
    sizes: Mapping[str, int]
    schedule: Schedule
    host: HostNode
    groups: dict[str, PlacedGroup]
    tree: isl.Schedule
    double_buffering: bool

    @property
    def scop(self) -> Scop:
        return self.schedule.scop

    @property
    def dependences(self) -> Dependences:
        return self.schedule.dependences

    @cached_property
    def timeline(self) -> Timeline:
        """What the engines do when, by the simulator."""
        groups = ((Costing.of(self.scop, self.target, own.plan).all(), own.placement)
                  for own in self.groups.values())
        return simulate(self.scop.name, self.target, groups, self.peak_work)

    @property
    def peak_work(self) -> float:
        """Multiply-adds of the cube in a cycle."""
        intrinsic = find_intrinsic(self.target.cube.intrinsic)
        work = prod(d.extent for d in intrinsic.contraction.dimensions if isinstance(d.extent, int))
        return work / ceil(intrinsic.cost.issue_cycles)

    @property
    def io_bytes(self) -> int:
        """Bytes that any program moves between the chip and its memory: each input once in, each output once out."""
        return io_bytes(self.dependences)

    @property
    def moved_bytes(self) -> int:
        """Bytes that this one moves there."""
        return moved_off_chip(self.timeline)

    def lines(self) -> tuple[str, ...]:
        """Groups, buffers and figures, one line each."""
        found = []
        for own in self.groups.values():
            found.append(f"group {own.plan}; the model compared {own.weighed} tiles")
            found += [f"buffer {buffer}, at {', '.join(str(p.offset) for p in own.placement.of(buffer.name))}"
                      for buffer in own.plan.buffers]
            found += [f"memory {name}: {own.placement.peaks[name]} of {self.target.memory(name).capacity_bytes} bytes"
                      for name in own.placement.peaks]
        busy = ", ".join(f"{engine} {cycles / max(1, self.timeline.cycles):.0%}"
                         for engine, cycles in self.timeline.busy.items())
        found.append(f"simulated: {self.timeline.cycles} cycles, cube {self.timeline.cube_utilisation:.1%} of its "
                     f"peak; busy: {busy}")
        found += [f"moved {way}: {count} bytes" for way, count in self.timeline.moved.items()]
        core = self.target.vector
        beside = f"; what {core.engine} uses in memory is not counted" if core.memory == MEMORY else ""
        found.append(f"memory traffic: {self.moved_bytes} bytes{beside}; "
                     f"inputs and outputs once are {self.io_bytes}")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {"target": self.target.name, "sizes": dict(self.sizes), "double_buffering": self.double_buffering,
                **self.timeline.to_json(), "io_bytes": self.io_bytes, "moved_bytes": self.moved_bytes,
                "groups": [{"name": name, "tile": list(own.plan.edges), "tiles": own.plan.tiles,
                            "stages": list(map(str, own.plan.stages)), "peak_bytes": own.placement.peaks,
                            "by_cube": [s.statement for s in own.plan.stages if isinstance(s, CubeStage)]}
                           for name, own in self.groups.items()]}

    def headline(self) -> str:
        """For instance `of gemm on davinci: 1 group, 4120 cycles, cube 62%`."""
        return (f"of {self.scop.name} on {self.target.name}: {len(self.groups)} "
                f"group{'s' * (len(self.groups) != 1)}, {self.timeline.cycles} cycles, cube "
                f"{self.timeline.cube_utilisation:.0%}")

    def __str__(self) -> str:
        return "\n".join((self.scop.name, *self.lines()))

    def _repr_html_(self) -> str:
        from polysched.scop.html import card, paragraph
        return card(f"{self.scop.name} on {self.target.name}", *map(paragraph, self.lines()),
                    self.timeline._repr_html_())
