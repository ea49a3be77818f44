"""The independent check of a match by isl; nothing here knows the CNF.

With f the fused index of each group of dimensions (a mixed-radix number of its loops): the loops of a group must be a
function of f; an operand's element must not change with the loops of groups that do not index it; the result's
elements must differ between lanes; and a point that the padding adds must meet a zero operand or an unstored result.
f splits into tile and coordinate by division, which is a bijection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import TypeAlias

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import Expr, IteratorRef, Load, walk
from polysched.tensorize.software.fragment import Fragment

Hidden: TypeAlias = tuple[tuple[str, ...], ...]
Hiding: TypeAlias = tuple[tuple[tuple[str, tuple[str, ...], tuple[int, ...], dict[Hidden, bool]], ...], tuple[int, ...]]


@dataclass(frozen=True)
class Refusal:
    """Why isl refuses, and the loops whose places are to blame.

    Parameters
    ----------
    groups : not even more loops in other places would help, unless those of these groups change; empty where nothing
        helps as long as the loops have these places.
    """

    reason: str
    loops: frozenset[str]
    groups: tuple[int, ...] = ()


def fused_index(fragment: Fragment, loops: Sequence[str]) -> str:
    """The mixed-radix number of some loops, outermost first, as text over the iterators."""
    text = "0"
    for name in loops:
        loop = fragment.loop(name)
        text = f"({text}) * {loop.extent} + ({name} - ({fragment.first_text(name)}))"
    return text


@dataclass(eq=False)
class IslCheck:
    """Checks mappings of one fragment; answers that several mappings share are computed once.

    Each group's loops must be recoverable from its fused index; given that, an operand must not change with the loops
    of groups that do not index it, and the result's lanes must hold different elements.

    Parameters
    ----------
    shared : operands with elements that several instances access; `correspondence` has the whole relation of these,
        and their places hide no padding.
    counted : operands whose zeros count, so they hide no padding either.
    """

    fragment: Fragment
    shared: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    answers: dict[tuple[str, frozenset[str]], bool] = field(default_factory=dict)
    asked: dict[tuple[str, ...], dict[Hidden, bool]] = field(default_factory=dict)
    apart: dict[tuple[tuple[str, ...], ...], bool] = field(default_factory=dict)
    told_apart: dict[tuple[str, ...], bool] = field(default_factory=dict)
    unnamed: dict[str, frozenset[str]] = field(default_factory=dict)
    read: dict[int, tuple[Expr, tuple[str, ...]]] = field(default_factory=dict)
    hidings: dict[int, tuple[Mapping[str, Expr], Hiding]] = field(default_factory=dict)

    def refusal(self, operands: Mapping[str, Expr], output: str, indexes: Sequence[frozenset[str]],
                loops: Sequence[tuple[str, ...]],
                left_out: Callable[[], isl.Set | None] = lambda: None) -> Refusal | None:
        """Refuse a mapping that does not compute the statement; None when it does.

        Parameters
        ----------
        operands : input operand -> software expression.
        indexes : per group the operands that it indexes, `output` among them for the result.
        loops : per group its loops, outermost first.
        left_out : the iterations around the program's at whose places the instruction computes nothing, if any.
        """
        names = [name for members in loops for name in members]
        if len(set(names)) != len(names) or not all(map(self.recoverable, loops)):
            return Refusal("two iterations fall on the same place of the instruction", frozenset(names))
        hiding, shown = self._hiding(operands, output, indexes)
        for operand, used, groups, known in hiding:
            hidden = tuple([loops[g] for g in groups])
            agree = known.get(hidden)
            if agree is None:
                agree = known[hidden] = self._is_one_element(used, _together(hidden))
            if not agree:
                return Refusal(f"operand {operand} would need two elements at one place", _together(hidden))
        lanes = tuple([loops[g] for g in shown])
        if output not in self.shared and not self.differ(lanes):
            return Refusal("two places of the result would hold the same element, so one sum is lost",
                           _together(lanes))
        if self.fragment.is_box:
            return None
        idle = left_out()
        return _padding(self.fragment, self._views(operands, output, indexes, loops), idle, frozenset(names),
                        () if idle is None else tuple(range(len(loops))))

    def _is_one_element(self, used: Sequence[str], together: frozenset[str]) -> bool:
        """Whether what an operand holds is the same in all iterations of some loops."""
        return together.isdisjoint(used) and all(
            self.independent(r, together) for r in used if r in self.fragment.indices)

    def _views(self, operands: Mapping[str, Expr], output: str, indexes: Sequence[frozenset[str]],
               loops: Sequence[tuple[str, ...]]) -> list[frozenset[str]]:
        """The loops that each operand with places of its own, and the result, are seen along."""
        kept = frozenset(self.fragment.kept)
        views = [kept | self.fragment.loops_of(e) | _together(
            tuple(m for m, i in zip(loops, indexes, strict=True) if o in i))
            for o, e in operands.items() if o not in self.shared | self.counted]
        return views if output in self.shared else [*views, self.written | kept]

    def padding(self, operands: Mapping[str, Expr], output: str, indexes: Sequence[frozenset[str]],
                loops: Sequence[tuple[str, ...]]) -> str:
        """A point outside a domain that is no box whose padding would be counted; "" where there is none."""
        return padding_counts(self.fragment, self._views(operands, output, indexes, loops))

    def written_while_read(self, operands: Mapping[str, Expr], loops: Sequence[tuple[str, ...]]) -> Refusal | None:
        """Refuse calls of a function that would find elements of an input in its result; no such function allows that.

        All iterations with the same values of the loops of no group are one call.
        """
        array = self.fragment.statement.access(self.fragment.target).array
        shared = [r for e in operands.values() for r in self.references(e)
                  if self.fragment.statement.access(r).array == array]
        mapped = frozenset(name for members in loops for name in members)
        if not shared:
            return None
        outside = [loop.name for loop in self.fragment.loops if loop.name not in mapped]
        call = iteration_map(self.fragment, outside).reverse()
        written = call.apply_range(self.fragment.relation(self.fragment.target))
        for reference in shared:
            both = call.apply_range(self.fragment.relation(reference)).intersect(written)
            if not both.is_empty():
                return Refusal(f"one call would read and write the same element of {array}", mapped)
        return None

    def _hiding(self, operands: Mapping[str, Expr], output: str, indexes: Sequence[frozenset[str]]) -> Hiding:
        """Per operand its accesses and iterators, the groups that do not index it, and whether its elements are the
        same in every iteration of these groups' loops, as far as that was asked; and the groups of the result."""
        if id(operands) not in self.hidings:   # the same for all mappings of one assignment
            read = (*((o, (*self.references(e), *self.iterators(e))) for o, e in operands.items()), (output, self.own))
            hiding = tuple((o, used, tuple(g for g, i in enumerate(indexes) if o not in i),
                            self.asked.setdefault(used, {})) for o, used in read if o not in self.shared)
            shown = tuple(g for g, i in enumerate(indexes) if output in i)
            self.hidings[id(operands)] = (operands, (hiding, shown))
        return self.hidings[id(operands)][1]

    def differ(self, lanes: tuple[tuple[str, ...], ...]) -> bool:
        """Lanes hold different elements, apart from those of partial sums, which are added."""
        if lanes not in self.apart:
            self.apart[lanes] = self.distinct(_together(lanes) & self.written)
        return self.apart[lanes]

    @cached_property
    def own(self) -> tuple[str]:
        """The access that the statement writes."""
        return (self.fragment.target,)

    def references(self, e: Expr) -> tuple[str, ...]:
        """The accesses that an expression reads."""
        if id(e) not in self.read:   # by identity: hashing a tree costs more than walking it
            self.read[id(e)] = (e, tuple(x.reference for x in walk(e) if isinstance(x, Load)))
        return self.read[id(e)][1]

    @staticmethod
    def iterators(e: Expr) -> tuple[str, ...]:
        """The iterators that an expression computes with, outside of subscripts."""
        return tuple({x.name: None for x in walk(e) if isinstance(x, IteratorRef)})

    @cached_property
    def written(self) -> frozenset[str]:
        """The loops that choose the element of the result."""
        named = {n for i in self.fragment.indices[self.fragment.target] for n in i.loops}
        return frozenset(named) - set(self.fragment.kept)

    def recoverable(self, loops: tuple[str, ...]) -> bool:
        """The fused index tells the iterations of its loops apart.

        By induction over the loops: the index of all but the last is known, and one step `(f, i) -> f * E + i` with
        `0 <= i < E` loses nothing, which isl decides once per extent E.
        """
        if loops not in self.told_apart:
            self.told_apart[loops] = all(_step_recoverable(self.fragment.loop(name).extent) for name in loops)
        return self.told_apart[loops]

    def independent(self, reference: str, hidden: frozenset[str]) -> bool:
        """The element of an access is a function of the loops that are not hidden.

        What holds for some hidden loops holds for fewer, so those that the subscripts do not name are asked together.
        """
        unnamed = self._unnamed(reference)
        if hidden < unnamed and self.independent(reference, unnamed):
            return True
        key = (reference, hidden)
        if key not in self.answers:
            relation = _projected(self.fragment, self.fragment.relation(reference), hidden)
            self.answers[key] = bool(relation.is_single_valued())
        return self.answers[key]

    def _unnamed(self, reference: str) -> frozenset[str]:
        """The loops that no subscript of an access names."""
        if reference not in self.unnamed:
            named = {n for i in self.fragment.indices[reference] for n in i.loops}
            self.unnamed[reference] = frozenset(loop.name for loop in self.fragment.loops) - named
        return self.unnamed[reference]

    @cached_property
    def overlapping(self) -> bool:
        """Iterations that differ in loops of the result meet in one element (`C[i + j]`)."""
        return not self.distinct(self.written)

    def distinct(self, lanes: frozenset[str]) -> bool:
        """With every other loop at one value, different lanes write different elements.

        What holds for some lanes holds for fewer, so all loops that choose the element are asked together.
        """
        if lanes < self.written and self.distinct(self.written):
            return True
        key = ("", lanes)
        if key not in self.answers:
            together = self._same_element
            for position, name in enumerate(self.fragment.statement.iterators):
                if name not in lanes:
                    together = together.equate(isl.dim_type.in_, position, isl.dim_type.out, position)
            self.answers[key] = bool(together.is_subset(isl.Map.identity(together.get_space())))
        return self.answers[key]

    @cached_property
    def _same_element(self) -> isl.Map:
        """Pairs of iterations that write the same element."""
        relation = self.fragment.relation(self.fragment.target)
        return relation.apply_range(relation.reverse())


@lru_cache(maxsize=4096)
def _step_recoverable(extent: int) -> bool:
    text = f"{{ L[f, i] -> F[f * {extent} + i] : 0 <= i < {extent} }}"
    return bool(isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text).is_injective())


def _together(groups: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    return frozenset([name for members in groups for name in members])


def _projected(fragment: Fragment, relation: isl.Map, hidden: frozenset[str]) -> isl.Map:
    for position, name in reversed(list(enumerate(fragment.statement.iterators))):
        if name in hidden:
            relation = relation.project_out(isl.dim_type.in_, position, 1)
    return relation


def iteration_map(fragment: Fragment, coordinates: Sequence[str]) -> isl.Map:
    """From the statement's iterations to coordinates, given as text over the iterators."""
    iterators = ", ".join(fragment.statement.iterators)
    text = f"{fragment.parameters_text}{{ {fragment.statement.name}[{iterators}] -> P[{', '.join(coordinates)}] }}"
    return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_domain(fragment.domain)


def _padding(fragment: Fragment, views: Sequence[frozenset[str]], left_out: isl.Set | None, mapped: frozenset[str],
             groups: tuple[int, ...]) -> Refusal | None:
    """Points of the bounding box outside the domain must have no effect.

    The instruction may compute nothing there.  Else an operand is zero, and an element of the result is not stored,
    where no iteration with the same values of its own loops belongs to the domain; an operand is packed once for all
    values of the others.

    Parameters
    ----------
    views : per operand the loops that its places are told apart by, the result's among them.
    groups : those whose places decide what the instruction leaves out.
    """
    witness = padding_counts(fragment, views, left_out)
    return Refusal(f"the domain is no box, and the padding at {witness} would be counted", mapped, groups) \
        if witness else None


def padding_counts(fragment: Fragment, views: Sequence[frozenset[str]], left_out: isl.Set | None = None) -> str:
    """A point of the bounding box outside the domain that no operand hides; "" where there is none.

    Parameters
    ----------
    left_out : points that an instruction does not compute.
    """
    domain, visible = fragment.iterations_of_all_sizes
    if left_out is not None:
        visible = visible.subtract(left_out)
    for view in views:
        reached = domain
        for position, name in enumerate(fragment.statement.iterators):
            if name not in view:
                reached = reached.project_out(isl.dim_type.set, position, 1).insert_dims(
                    isl.dim_type.set, position, 1)
        visible = visible.intersect(reached.set_tuple_name(fragment.statement.name))
    return "" if visible.is_subset(domain) else str(visible.subtract(domain).sample_point())
