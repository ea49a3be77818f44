"""One checked way to compute a statement with an instruction: its layouts, executions and cost."""

from __future__ import annotations

import math
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from polysched.records import dataclass
from polysched.scop.body import Expr, Load
from polysched.target import Costs, Target
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.description.library_operands import LibraryOperand, library_operand
from polysched.tensorize.matching.assignment import Assignment
from polysched.tensorize.matching.encoding import Group, grouped
from polysched.tensorize.matching.facts import FINITE, takes_zeros
from polysched.tensorize.matching.operand_layout import LayoutTable, OperandLayout
from polysched.tensorize.matching.shapes import is_cut
from polysched.tensorize.proofs.correspondence import blurred
from polysched.tensorize.proofs.ideal import vanishes
from polysched.tensorize.proofs.instances import left_out
from polysched.tensorize.proofs.sum_order import negative_zeros
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.sizes import divides


@dataclass(frozen=True, eq=False, kw_only=True)
class Match:
    """One way: checked by isl, with its layouts and cost.

    Parameters
    ----------
    loops : per group its loops, outermost first; loops of no group run outside.
    assignment : what each input operand holds.
    table : layouts, shared by all matches of one fragment and instruction.
    overlapping : iterations of different lanes or blocks meet in one element of the result (`C[i + j]`): every one gets
        a sum of its own, and these are added at the end.
    ordered : updates of one element keep the program's order.
    apart : what several statements add to one float is added one statement after the other.
    rest : the statement of the iterations that fill no whole execution and stay behind; "" where there are none.
    target : the machine that it is for; `on` sets it.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    groups: tuple[Group, ...]
    loops: tuple[tuple[str, ...], ...]
    assignment: Assignment
    table: LayoutTable = field(repr=False)
    overlapping: bool = False
    ordered: bool = False
    apart: bool = False
    rest: str = ""
    target: Target = field(default_factory=Target, repr=False)

    def on(self, target: Target) -> Match:
        """The match for a machine, with its costs."""
        own = self.intrinsic.on(target)
        same = own is self.intrinsic and self.target == target
        return self if same else replace(self, intrinsic=own, target=target)

    @property
    def costs(self) -> Costs:
        """Of the machine."""
        return self.target.costs

    @cached_property
    def outer(self) -> tuple[str, ...]:
        """The loops around the instruction, outermost first."""
        inside = {name for members in self.loops for name in members}
        return tuple(loop.name for loop in self.fragment.loops if loop.name not in inside)

    def is_partial(self, group: int) -> bool:
        """The group's lanes of the result hold partial sums of one element."""
        part, written = self.groups[group], self.fragment.loops_of(self.result)
        return self.intrinsic.output.name in part.indexes and any(n not in written for n in self.loops[group])

    @cached_property
    def adds_at_the_end(self) -> bool:
        """The result is first computed in a buffer, several of whose elements are added to one of the program's."""
        return self.overlapping or any(map(self.is_partial, range(len(self.groups))))

    @cached_property
    def starts_anew(self) -> bool:
        """The nest does not read what the result held."""
        return self.adds_at_the_end or not self.intrinsic.contraction.accumulates

    @property
    def result(self) -> Load:
        """The program's element that the instruction's result is."""
        return self.fragment.result

    @cached_property
    def written(self) -> frozenset[str]:
        """The operands that hold results."""
        return frozenset(v.name for v in self.intrinsic.outputs)

    def holds_box(self, operand: str) -> bool:
        """Whether an operand holds an element of the program at all of its places inside of the loops' ends."""
        loops = {n for g, part in enumerate(self.groups) if operand in part.indexes for n in self.loops[g]}
        return self.fragment.is_box_along(self.fragment.loops_of(self.contents[operand]) | loops)

    @cached_property
    def contents(self) -> dict[str, Expr]:
        """What every operand of the instruction holds."""
        return {self.intrinsic.output.name: self.fragment.result, **self.assignment.held}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the match takes for granted, in words."""
        lanes = ("partial sums in lanes are added at the end",) if self.adds_at_the_end else ()
        apart = ("float additions of several statements may be reordered",) if self.apart else ()
        finite = (FINITE,) if self.takes_zeros else ()
        return (*self.assignment.assumptions, *lanes, *apart, *finite)

    @cached_property
    def takes_zeros(self) -> bool:
        """Whether padding of what is stored multiplies zeros by the program's floats."""
        groups = grouped(self.intrinsic, self.groups) if is_cut(self.intrinsic) else None
        return takes_zeros(self.fragment, self.intrinsic, left_out(self.fragment, self.intrinsic, groups, self.loops))

    def fused_extent(self, group: int) -> int:
        """Iterations of all loops of a group together."""
        return self._fused_extents[group]

    @cached_property
    def _fused_extents(self) -> tuple[int, ...]:
        return tuple([self.fragment.iterations(members) for members in self.loops])

    def extent(self, group: int) -> int:
        """The instruction's extent of a group; for a library call, whatever the loops have."""
        return self.groups[group].extent or self.fused_extent(group)

    @property
    def executions(self) -> int:
        """How often the instruction is executed in one iteration of the kept loops."""
        total = self.fragment.work
        for group, members in enumerate(self.loops):
            count, tiles = self.table.tiles(group, members)
            total = total // count * tiles
        return total

    @property
    def utilisation(self) -> float:
        """Share of the instruction's work that is the program's."""
        return self.fragment.work / (self.executions * math.prod(self.extent(g) for g in range(len(self.groups))))

    @cached_property
    def layouts(self) -> tuple[OperandLayout, ...]:
        """How each operand of the instruction lies in the program's arrays, the result first."""
        return tuple([self.table.layout(o, self.contents[o.name], self.loops) for o in self.table.operands])

    def library_operand(self, layout: OperandLayout) -> LibraryOperand | str:
        """How an operand is handed to a library function, or why it cannot be."""
        described = next(o for o in self.table.operands if o.name == layout.operand)
        held = self.assignment.held.get(layout.operand, self.fragment.result)
        if isinstance(held, Load) and self.fragment.memory_steps[held.reference] is None:
            return "its elements do not lie at equal steps"
        extents = [1 if group is None else self.fused_extent(group) for group, _ in described.subscripts]
        return library_operand(layout.strides, extents, written=layout.operand == self.intrinsic.output.name)

    def counts_padding(self) -> str:
        """Why the places that padding adds would change the result; "" where they do not."""
        known = self.table.padding   # by group and its loops, of all matches
        for place in enumerate(self.loops):
            why = known.get(place)
            if why is None:
                why = known[place] = self._padding_of(place[0])
            if why:
                return why
        return ""

    def _padding_of(self, group: int) -> str:
        """The same for the places of one group, which follows from its loops."""
        part, output = self.groups[group], self.intrinsic.output.name
        apart = frozenset(o for o in part.indexes if not blurred(self.intrinsic, o) & {*part.dimensions})
        shown = output in apart and not self.is_partial(group)   # else results that nobody stores
        if shown or divides(self.extent(group), self.fused_extent(group)):
            return ""
        if vanishes(self.intrinsic, apart - {output}):
            return "" if self._keeps_signs(apart) else (
                f"dimension {part.name} takes {self.extent(group)} iterations, and +0.0 in the place of missing ones "
                "would turn a sum of -0.0 into +0.0")
        return (f"dimension {part.name} takes {self.extent(group)} iterations, and what {self.intrinsic.name} "
                "computes of zeros in the place of missing ones counts")

    def _keeps_signs(self, apart: frozenset[str]) -> bool:
        """Whether padding keeps a sum of -0.0; sums in another order have other bits in any case."""
        if not (self.ordered and self.fragment.update.dtype.is_float):
            return True
        inputs = {e.array for e in self.intrinsic.contraction.inputs}
        return negative_zeros(self.intrinsic) is not None and inputs <= apart

    @cached_property
    def padded_with_negative_zeros(self) -> frozenset[str]:
        """The inputs that hold -0.0 where the program has no iteration."""
        if not (self.ordered and self.fragment.update.dtype.is_float and self.intrinsic.contraction.reductions):
            return frozenset()
        return negative_zeros(self.intrinsic) or frozenset()

    def cannot_be_called(self) -> str:
        """Why the library function cannot take the program's arrays; "" where it can, and for instructions."""
        for layout in self.layouts if self.intrinsic.library else ():
            if isinstance(why := self.library_operand(layout), str):
                return f"operand {layout.operand} cannot be {layout.array}: {why}; {self.intrinsic.name} takes " \
                       f"{self.intrinsic.operand(layout.operand).stride}"
        return ""

    @cached_property
    def cost_cycles(self) -> float:
        """The least that the match can cost: issue cycles of all executions, and one copy of its operands.

        What a plan of the nest really costs, `emission.cost.plan_cycles`, is not less.
        """
        work = self.executions * self.intrinsic.cost.cycles + self.intrinsic.cost.latency_cycles
        if self.intrinsic.library:
            work = self.fragment.work / self.costs.library_operations_per_cycle \
                + self.executions * self.intrinsic.cost.latency_cycles
        return work * self.fragment.times \
            + self.costs.copied_element_cycles * self.table.least_elements(self.assignment.held, self.loops)

    @property
    def copies_for_one_use(self) -> bool:
        """Some input is packed although each of its elements is used only once."""
        loops = {loop.name for loop in self.fragment.loops if loop.extent > 1}
        return any(layout.mode is LoadMode.PACKED
                   and loops <= self.fragment.loops_of(self.assignment.expression(layout.operand))
                   for layout in self.layouts if layout.operand not in self.written)

    @property
    def signature(self) -> tuple[object, ...]:
        """What makes two matches the same."""
        return self.fragment.statement.name, self.loops, self.assignment.operands

    def to_json(self) -> dict[str, Any]:
        """The match as plain values."""
        mapping = {g.name: list(m) for g, m in zip(self.groups, self.loops, strict=True)}
        operands = {name: self._held(name, e) for name, e in self.contents.items()}
        return {"statement": self.fragment.statement.name, "mapping": mapping, "outer": list(self.outer),
                "kept": list(self.fragment.kept),
                "operands": operands, "layouts": {v.operand: v.to_json() for v in self.layouts},
                "zero_points": self.assignment.correction is not None,
                "rest": self.rest, "assumptions": list(self.assumptions),
                "executions": self.executions * self.fragment.times,
                "utilisation": round(self.utilisation, 4), "cost_cycles": round(self.cost_cycles, 1)}

    def lines(self) -> tuple[str, ...]:
        """The match, what an execution of it takes, and what it takes for granted."""
        places = ", ".join(f"{v.operand} {v.mode.value}" for v in self.layouts)
        return (str(self),
                f"  executed {self.executions * self.fragment.times} times, {self.utilisation:.0%} of its work used, "
                f"about {self.cost_cycles:.0f} cycles; {places}",
                *(f"  takes for granted: {assumption}" for assumption in self.assumptions))

    def __str__(self) -> str:
        parts = [f"{g.name} <- {' '.join(m) or 'padding'}" for g, m in zip(self.groups, self.loops, strict=True)]
        shown = self.assignment.held if len(self.written) == 1 else self.contents
        operands = [f"{n} = {self._held(n, e)}" for n, e in shown.items()]
        behind = "; zero points are added behind the product" if self.assignment.correction is not None else ""
        behind += f"; the last iterations are {self.rest}" if self.rest else ""
        behind += f"; in every iteration of {' and '.join(self.fragment.kept)}" if self.fragment.kept else ""
        return f"{self.fragment.statement.name}: {', '.join(parts)}; {', '.join(operands)}{behind}"

    def _held(self, operand: str, e: Expr) -> str:
        """What an operand holds, in words; of a table the array."""
        if operand in self.intrinsic.contraction.tables and isinstance(e, Load):
            return self.fragment.statement.access(e.reference).array
        return self._words(e)

    def _words(self, e: Expr) -> str:
        return self.fragment.text(e)
