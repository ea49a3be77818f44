"""Engines that run at the same time: when each instruction starts and ends, and what that makes in all.

An engine runs its instructions in order.  An instruction starts when its engine is free, what it reads is there, and
nobody uses any byte that it writes.  Instructions of two groups never run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from polysched.errors import BudgetExceededError
from polysched.gpu.limits import LIMITS
from polysched.gpu.scratchpad.instructions import Instruction, Place
from polysched.gpu.scratchpad.placement import Placement
from polysched.records import dataclass
from polysched.scop.provided import provided
from polysched.scop.shown import Shown
from polysched.target.scratchpads.description import ScratchpadTarget


@dataclass(frozen=True, kw_only=True)
class Run:
    """An instruction, and the cycles at which it starts and ends."""

    instruction: Instruction
    start: int
    end: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Timeline(Shown):
    """What each engine does when.

    Parameters
    ----------
    name : of the program.
    engines : in the order of the chart.
    runs : in the order of the program.
    peak_work : multiply-adds of the cube per cycle.
    """

    name: str
    engines: tuple[str, ...]
    runs: tuple[Run, ...]
    peak_work: float

    @property
    def cycles(self) -> int:
        """From the start of the first instruction to the end of the last."""
        return max((run.end for run in self.runs), default=0)

    @property
    def busy(self) -> dict[str, int]:
        """Cycles in which each engine works."""
        found = dict.fromkeys(self.engines, 0)
        for run in self.runs:
            found[run.instruction.engine] += run.end - run.start
        return found

    @property
    def moved(self) -> dict[str, int]:
        """Bytes by `source -> destination`."""
        found: dict[str, int] = {}
        for own in (run.instruction for run in self.runs):
            if own.source:
                way = f"{own.source} -> {own.destination}"
                found[way] = found.get(way, 0) + own.bytes
        return dict(sorted(found.items()))

    @property
    def work(self) -> int:
        """Multiply-adds on the cube."""
        return sum(run.instruction.work for run in self.runs)

    @property
    def cube_utilisation(self) -> float:
        """Multiply-adds of the program over what the cube does in all cycles; 0 where nothing runs there."""
        return self.work / (self.peak_work * self.cycles) if self.cycles else 0.0

    def to_json(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {"cycles": self.cycles, "busy_cycles": self.busy, "bytes": self.moved, "cube_work": self.work,
                "cube_utilisation": round(self.cube_utilisation, 4), "instructions": len(self.runs)}

    def headline(self) -> str:
        """For instance `of gemm: 4120 cycles, cube 62% used, busiest CUBE`."""
        busiest = max(self.busy.items(), key=lambda own: own[1], default=("nothing", 0))[0]
        return f"of {self.name}: {self.cycles} cycles, cube {self.cube_utilisation:.0%} used, busiest {busiest}"

    def __str__(self) -> str:
        busy = [f"  {engine}: {cycles} cycles, {cycles / max(1, self.cycles):.0%}"
                for engine, cycles in self.busy.items()]
        return "\n".join((self.headline().removeprefix("of "), *busy,
                          *(f"  {way}: {count} bytes" for way, count in self.moved.items())))

    def _repr_html_(self) -> str:
        html: str = provided("gpu", "Timeline._repr_html_")(self)
        return html


@dataclass
class _Use:
    """When a slot is written, and read after that."""

    written: int = 0
    read: int = 0


@dataclass
class _Clock:
    """The state of a simulation."""

    engines: dict[str, int]
    uses: dict[Place, _Use] = field(default_factory=dict)


def simulate(name: str, target: ScratchpadTarget, groups: Iterable[tuple[Iterable[Instruction], Placement]],
             peak_work: float) -> Timeline:
    """Run instructions, group after group.

    Parameters
    ----------
    groups : the instructions of each group, and where its buffers lie.

    Raises
    ------
    BudgetExceededError : there are more than `limits.most_instructions`.
    """
    runs: list[Run] = []
    start = 0
    for instructions, placement in groups:
        for run in _group(target, instructions, placement, start):
            runs.append(run)
            if len(runs) > LIMITS.most_instructions:
                raise BudgetExceededError(f"more than {LIMITS.most_instructions} instructions to simulate", where=name,
                                          hint="use larger tiles, or smaller sizes")
        start = max((run.end for run in runs), default=0)
    return Timeline(name=name, engines=target.engines, runs=tuple(runs), peak_work=peak_work)


def _group(target: ScratchpadTarget, instructions: Iterable[Instruction], placement: Placement, start: int
           ) -> Iterator[Run]:
    clock = _Clock(engines=dict.fromkeys(target.engines, start))
    shared = overlapping(placement)
    for own in instructions:
        if not own.cycles:
            continue
        begin = max([clock.engines[own.engine],
                     *(clock.uses[p].written for place in own.reads for p in shared.get(place, (place,))
                       if p in clock.uses),
                     *(max(clock.uses[p].written, clock.uses[p].read) for place in own.writes
                       for p in shared.get(place, (place,)) if p in clock.uses)])
        end = begin + own.cycles
        clock.engines[own.engine] = end
        for place in own.reads:
            use = clock.uses.setdefault(place, _Use())
            use.read = max(use.read, end)
        for place in own.writes:
            clock.uses.setdefault(place, _Use()).written = end
        yield Run(instruction=own, start=begin, end=end)


def overlapping(placement: Placement) -> dict[Place, tuple[Place, ...]]:
    """For each slot of a buffer, all that share a byte with it, itself among them."""
    return {(own.buffer, own.slot): tuple((other.buffer, other.slot) for other in placement.slots
                                          if own.overlaps(other)) for own in placement.slots}
