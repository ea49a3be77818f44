"""The layout of each operand, derived from the match: which array element each coordinate of the operand holds.

The relation maps `[outer, tile] , coordinate` to the element; when an element moves by the same distance in memory as
the coordinate does in the operand, the program's array can be loaded as it lies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, TypeAlias

from polysched.records import dataclass
from polysched.scop.body import Expr, Load
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.description.semantics import Affine, Element, Variable
from polysched.tensorize.matching.encoding import Group
from polysched.tensorize.proofs.correspondence import is_shared
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.sizes import same


@dataclass(frozen=True, eq=False, kw_only=True)
class OperandLayout:
    """Where an operand's elements come from; tiles of the result that are partly padding may still be written in place.

    Parameters
    ----------
    operand : the instruction's operand.
    array : the array, or "" for an expression or a constant.
    mode : DIRECT (lies in memory as the instruction reads it), BROADCAST (every lane the same), or PACKED.
    strides : elements between neighbours along each subscript of the operand; None where that is not constant.
    packed_elements : elements copied over the whole program, padding included; 0 unless packed.
    least_elements : those of the array itself, where another order of its dimensions may do.
    """

    operand: str
    array: str
    mode: LoadMode
    strides: tuple[int | None, ...]
    packed_elements: int
    least_elements: int

    def to_json(self) -> dict[str, Any]:
        """The layout as plain values."""
        return {"array": self.array, "mode": self.mode.value, "strides": list(self.strides),
                "packed_elements": self.packed_elements}


def uniform_step(fragment: Fragment, steps: Mapping[str, int], loops: Sequence[str]) -> int | None:
    """Elements between neighbours along the fused index of some loops, outermost first; None when that is not constant.

    It is when every outer loop steps over exactly what the next inner one covers.
    """
    extents = [(steps.get(n, 0), fragment.loop(n).extent) for n in loops if fragment.loop(n).extent > 1]
    if any(outer != inner * extent for (outer, _), (inner, extent) in itertools.pairwise(extents)):
        return None
    return extents[-1][0] if extents else 0


def _natural(shape: tuple[int | str, ...]) -> tuple[int, ...]:
    sizes = [s for s in shape if isinstance(s, int)]
    return tuple(math.prod(sizes[i + 1:]) if sizes[i] > 1 else 0 for i in range(len(sizes)))


@dataclass(frozen=True, eq=False)
class LayoutTable:
    """The layouts of all matches of one fragment and one instruction, which share most of their parts.

    A layout depends only on what the operand holds and on the loops in the dimensions that index it; its strides and
    its padded sizes on one group each; the elements that an access touches on nothing else.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    groups: tuple[Group, ...]
    layouts: dict[object, OperandLayout] = field(default_factory=dict, repr=False)
    strides: dict[object, int | None] = field(default_factory=dict, repr=False)
    touched: dict[str, int] = field(default_factory=dict, repr=False)
    parts: dict[object, tuple[int, int, int]] = field(default_factory=dict, repr=False)
    chosen: dict[int, int] = field(default_factory=dict, repr=False)
    copied: dict[int, tuple[Mapping[str, Expr], Copies]] = field(default_factory=dict, repr=False)
    counts: dict[object, tuple[int, int]] = field(default_factory=dict, repr=False)
    padding: dict[tuple[int, tuple[str, ...]], str] = field(default_factory=dict, repr=False)

    @cached_property
    def operands(self) -> tuple[DescribedOperand, ...]:
        """The operands of the instruction that lie in memory, apart from tables, the result first."""
        contraction = self.intrinsic.contraction
        elements = {e.array: e for e in (*(r.output for r in contraction.results), *contraction.inputs)}
        return tuple(DescribedOperand(self, v, elements[v.name]) for v in self.intrinsic.parsed.operands
                     if self.intrinsic.operand(v.name).mode is not LoadMode.VALUE and v.name in elements)

    def layout(self, operand: DescribedOperand, e: Expr, loops: tuple[tuple[str, ...], ...]) -> OperandLayout:
        """The layout of an operand that holds an expression, with these loops in the groups."""
        key = (operand.name, id(e), *(loops[g] for g in operand.groups))
        found = self.layouts.get(key)
        if found is None:
            found = self.layouts[key] = self._layout(operand, e, loops)
        return found

    def _layout(self, operand: DescribedOperand, e: Expr, loops: tuple[tuple[str, ...], ...]) -> OperandLayout:
        strides = self._strides(operand, e, loops)
        parts = [self._part(e, g, loops[g]) for g in operand.groups]
        full = all(same(count, padded) for count, padded, _ in parts)
        mode = operand.mode_of(strides, full=full) if self._is_affine(e) else LoadMode.PACKED
        copied = 0
        if mode not in (LoadMode.DIRECT, LoadMode.BROADCAST):
            copied = int(self._elements(e))
            for _, padded, own in parts:
                copied = copied // int(own) * int(padded)
        array = self.fragment.statement.access(e.reference).array if isinstance(e, Load) else ""
        least = min(copied, int(self._touched(e.reference))) if isinstance(e, Load) else copied
        return OperandLayout(operand=operand.name, array=array, mode=mode, strides=strides, packed_elements=copied,
                             least_elements=least)

    def least_elements(self, held: Mapping[str, Expr], loops: tuple[tuple[str, ...], ...]) -> int:
        """Elements that a mapping copies at least, as its layouts have them, without making these."""
        total = 0
        for operand, e, groups, known in self._copies(held):
            key = tuple([loops[g] for g in groups])
            least = known.get(key)
            if least is None:
                least = known[key] = self._least_elements(operand, e, loops)
            total += least
        return total

    def _copies(self, held: Mapping[str, Expr]) -> Copies:
        """Per operand what it holds, the groups that index it, and what it copies with the loops that were asked."""
        if id(held) not in self.copied:   # the same for all mappings of one assignment
            contents = [(o, held.get(o.name, self.fragment.result)) for o in self.operands]
            self.copied[id(held)] = (held, [(o, e, o.groups, {}) for o, e in contents])
        return self.copied[id(held)][1]

    def _least_elements(self, operand: DescribedOperand, e: Expr, loops: tuple[tuple[str, ...], ...]) -> int:
        """Those of one operand, which depend on the loops of the groups that index it."""
        copied, full = self._elements(e), True
        for g in operand.groups:
            count, padded, own = self._part(e, g, loops[g])
            copied, full = copied // own * padded, full and count == padded
        if not isinstance(e, Load):
            return copied
        right = operand.may_lie_right(full=full) and self._lies_right(operand, e, loops)
        return 0 if right else min(copied, self._touched(e.reference))

    def _lies_right(self, operand: DescribedOperand, e: Load, loops: tuple[tuple[str, ...], ...]) -> bool:
        """Whether `mode_of` is no copy where the shape allows that; stops at the first stride that is another."""
        if self.intrinsic.library or not self._is_affine(e):
            return False
        tiles, natural = operand.described is LoadMode.TILE, operand.natural
        for at in reversed(range(len(natural))):
            group, factor = operand.subscripts[at]
            stride = 0 if group is None else self._stride(e, group, factor, loops[group])
            if stride != natural[at] and not (tiles and at == 0 and stride is not None):
                return False
        return True

    def _is_affine(self, e: Expr) -> bool:
        """Whether every loop, those around the instruction included, moves an element of memory by equal steps."""
        return isinstance(e, Load) and self.fragment.memory_steps[e.reference] is not None

    def _strides(self, operand: DescribedOperand, e: Expr,
                 loops: tuple[tuple[str, ...], ...]) -> tuple[int | None, ...]:
        return tuple([0 if group is None else self._stride(e, group, factor, loops[group])
                      if isinstance(e, Load) else None for group, factor in operand.subscripts])

    def tiles(self, group: int, loops: tuple[str, ...]) -> tuple[int, int]:
        """Iterations of a group's loops, and executions that it takes for them."""
        key = (group, loops)
        if key not in self.counts:
            count, extent = self.fragment.iterations(loops), self.groups[group].extent
            self.counts[key] = (count, -(-count // (extent or count)))
        return self.counts[key]

    def _elements(self, e: Expr) -> int:
        """Iterations of the loops that choose the value of an expression; no loop of a group that hides it does."""
        if id(e) not in self.chosen:
            mine = self.fragment.loops_of(e)
            self.chosen[id(e)] = math.prod([loop.extent for loop in self.fragment.loops if loop.name in mine])
        return self.chosen[id(e)]

    def _part(self, e: Expr, group: int, loops: tuple[str, ...]) -> tuple[int, int, int]:
        """Iterations of a group's loops, with padding, and of those that choose the value of an expression."""
        key = (id(e), group, loops)
        if key not in self.parts:
            count, extent, mine = self.fragment.iterations(loops), self.groups[group].extent, self.fragment.loops_of(e)
            padded = count if extent is None else -(-count // extent) * extent
            self.parts[key] = (count, padded, self.fragment.iterations(tuple([n for n in loops if n in mine])))
        return self.parts[key]

    def _stride(self, e: Load, group: int, factor: int | None, loops: tuple[str, ...]) -> int | None:
        """Distance in memory between neighbours along one dimension of a group; None when it is not constant."""
        key = (e.reference, group, factor, loops)
        if key not in self.strides:
            steps = self.fragment.memory_steps[e.reference]
            step = None if steps is None or factor is None else uniform_step(self.fragment, steps, loops)
            self.strides[key] = None if step is None or factor is None else step * factor
        return self.strides[key]

    def _touched(self, reference: str) -> int:
        """Elements in the box around all that an access reads."""
        if reference not in self.touched:
            self.touched[reference] = math.prod(
                1 + sum(abs(c) * (self.fragment.loop(n).extent - 1) for n, c in index.coefficients)
                for index in self.fragment.indices[reference])
        return self.touched[reference]


Copies: TypeAlias = "list[tuple[DescribedOperand, Expr, tuple[int, ...], dict[tuple[tuple[str, ...], ...], int]]]"


@dataclass(frozen=True, eq=False)
class DescribedOperand:
    """What the description says about one operand, in terms of the groups."""

    table: LayoutTable
    variable: Variable
    element: Element

    @property
    def name(self) -> str:
        return self.variable.name

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The groups that index it."""
        return tuple(g for g, part in enumerate(self.table.groups) if self.name in part.indexes)

    @cached_property
    def subscripts(self) -> tuple[tuple[int | None, int | None], ...]:
        """Per subscript the group that moves it, and how many steps of the fused index one step of it is."""
        extents = {d.name: d.extent for d in self.table.intrinsic.contraction.dimensions}
        found: list[tuple[int | None, int | None]] = []
        for subscript, size in zip(self.element.subscripts, self.variable.shape, strict=True):
            group = next((g for g, part in enumerate(self.table.groups) if subscript.names & set(part.dimensions)),
                         None)
            if group is None or self.shared or not self._counts_through(subscript, size):
                found.append((group, None))
                continue
            part = self.table.groups[group].dimensions
            inner = [extents[n] for n in part[part.index(next(iter(subscript.names))) + 1:]]
            found.append((group, None if any(isinstance(e, str) for e in inner) else math.prod(map(int, inner))))
        return tuple(found)

    @cached_property
    def shared(self) -> bool:
        """Several instances access one element; such an operand is always packed."""
        return is_shared(self.table.intrinsic, self.name)

    def _counts_through(self, subscript: Affine, size: int | str) -> bool:
        """The subscript is one dimension of that extent and of no other subscript: a step of it is one element."""
        names = subscript.names
        alone = sum(bool(names & s.names) for s in self.element.subscripts) == 1
        extent = next((d.extent for d in self.table.intrinsic.contraction.dimensions if d.name in names), None)
        return alone and subscript == Affine(((min(names), 1),)) and (
            isinstance(size, str) or isinstance(extent, str) or extent == size)

    @cached_property
    def _ragged(self) -> bool:
        """Last tiles may be partly padding: the result, in dimensions of its own."""
        return self.variable.written and all(len(self.table.groups[g].dimensions) == 1 for g in self.groups)

    @cached_property
    def natural(self) -> tuple[int, ...]:
        """Strides of the operand as the instruction reads it from memory; 0 along one element."""
        return _natural(self.variable.shape)

    @cached_property
    def described(self) -> LoadMode:
        """The mode that the description gives it."""
        return self.table.intrinsic.operand(self.name).mode

    def may_lie_right(self, *, full: bool) -> bool:
        """Whether strides decide at all if the array lies as the instruction reads it."""
        return full or self._ragged or bool(self.table.intrinsic.library)

    def mode_of(self, strides: tuple[int | None, ...], *, full: bool) -> LoadMode:
        """DIRECT or BROADCAST where the array lies as the instruction reads it, otherwise PACKED."""
        described = self.described
        if self.table.intrinsic.library:
            return described if strides and None not in strides else LoadMode.PACKED   # or transposed by a flag
        fits = _are_same(strides, self.natural) or (described is LoadMode.TILE and None not in strides
                                                    and _are_same(strides[1:], self.natural[1:]))
        if (full or self._ragged) and fits:
            return LoadMode.BROADCAST if described is LoadMode.BROADCAST else LoadMode.DIRECT
        return LoadMode.PACKED


def _are_same(left: Sequence[int | None], right: Sequence[int]) -> bool:
    """Whether strides are these at all sizes."""
    return len(left) == len(right) and all(a is not None and same(a, b) for a, b in zip(left, right, strict=True))
