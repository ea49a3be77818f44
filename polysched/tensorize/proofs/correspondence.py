"""Which element of the program stands at which element of an operand, decided by isl one relation at a time.

An instance d of the instruction accesses the element s(d) of an operand, and in the program the element f(point(d)).
At fixed outer iteration the relation {s(d) -> f(point(d))} must be single-valued, or one place would need two values;
of the result it must be injective as well, or one element would get two sums.  Where the subscripts tell all instances
apart (`A[i][k]`) that follows from the operands' loops, which `isl_check` asks; here are the other operands: windows
(`X[i + k]`), and those that the instruction reads in several places (`A[i][k] * A[j][k]`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache, partial
from typing import TypeAlias

import islpy as isl
import numpy as np
import numpy.typing as npt

from polysched.records import dataclass, whole
from polysched.scop.body import Expr, IteratorRef, Load, rebuild, walk
from polysched.scop.budget import in_words, with_budget
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.semantics import Affine, Element
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.proofs.contents import parts_of, places_of
from polysched.tensorize.proofs.isl_check import Refusal, fused_index, iteration_map
from polysched.tensorize.software.fragment import Fragment

Column: TypeAlias = npt.NDArray[np.int64]
Instance: TypeAlias = tuple[Element, Expr, list[int]]   # a place of the text, what it holds there, and the iteration

CORRESPONDENCE_OPERATIONS = LIMITS.correspondence_operations
SAMPLED = LIMITS.sampled_iterations


@dataclass(frozen=True)
class Grouped:
    """Instruction dimensions that the matcher counts as one, with their extents, outermost first."""

    dimensions: tuple[str, ...]
    extents: tuple[int, ...]


@lru_cache(maxsize=512)
def blurred(intrinsic: Intrinsic, operand: str) -> frozenset[str]:
    """The dimensions that index an operand and do not follow from its element alone: all others are told apart.

    Of `X[i + k]` these are both, of `A[2*i]` and `A[2*i + 1]` read together none, of `A[i][k]` and `A[j][k]` i and j.
    """
    contraction = intrinsic.contraction
    places = places_of(contraction, operand)
    names = frozenset().union(*(e.names for e in places))
    if len(places) == 1 and all(any(s.names == {n} for s in places[0].subscripts) for n in names):
        return frozenset()
    extents = {d.name: d.extent for d in contraction.dimensions if d.name in names}
    if any(isinstance(e, str) for e in extents.values()):
        return names
    ordered = sorted(names)
    bounds = " and ".join(f"0 <= {n} < {extents[n]}" for n in ordered)
    found = set()
    for name in ordered:
        union = isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
        for element in places:
            subscripts = ", ".join(_text(s, {n: n for n in ordered}) for s in element.subscripts)
            reads = isl.Map.read_from_str(isl.DEFAULT_CONTEXT,
                                          f"{{ [{', '.join(ordered)}] -> E[{subscripts}] : {bounds} }}")
            value = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [{', '.join(ordered)}] -> D[{name}] }}")
            union = union.union(isl.UnionMap.from_map(reads.reverse().apply_range(value)))
        if not union.is_single_valued():
            found.add(name)
    return frozenset(found)


@lru_cache(maxsize=512)
def is_shared(intrinsic: Intrinsic, operand: str) -> bool:
    """Several instances, or several places of the text, may access one element of the operand."""
    places = places_of(intrinsic.contraction, operand)
    return len(places) > 1 or bool(blurred(intrinsic, operand))


def shared_operands(intrinsic: Intrinsic) -> frozenset[str]:
    """The operands with elements that several instances or places access, results among them."""
    contraction = intrinsic.contraction
    names = {*contraction.written, *(e.array for e in contraction.inputs)}
    return frozenset(n for n in names if is_shared(intrinsic, n))


@dataclass(eq=False)
class Correspondence:
    """The relations of one fragment and instruction; mappings that share an operand's loops share the answer.

    Parameters
    ----------
    groups : of dimensions, in the matcher's order.
    adds_up : several elements of the result's buffer are added to one of the program's at the end.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    groups: Sequence[Grouped]
    adds_up: bool
    answers: dict[object, str] = field(default_factory=dict)

    @cached_property
    def shared(self) -> dict[str, tuple[int, ...]]:
        """The operands that are looked at here, and the groups that index each of them."""
        contraction = self.intrinsic.contraction
        names = dict.fromkeys(e.array for e in (*(r.output for r in contraction.results), *contraction.inputs))
        return {name: tuple(g for g, part in enumerate(self.groups)
                            if any(name in contraction.indexes(d) for d in part.dimensions))
                for name in names if is_shared(self.intrinsic, name)}

    def refusal(self, held: Mapping[str, Expr], loops: Sequence[tuple[str, ...]]) -> Refusal | None:
        """Refuse a mapping that puts two elements into one place of an operand, or two sums into one element.

        Parameters
        ----------
        held : per input operand its content.
        loops : per group its loops, outermost first.
        """
        for operand, groups in self.shared.items():
            content = held.get(operand, self.fragment.result)
            key = (operand, id(content), *(loops[g] for g in groups))
            if key not in self.answers:
                why = with_budget(CORRESPONDENCE_OPERATIONS, partial(self._why_not, operand, content, loops))
                self.answers[key] = f"the elements of operand {operand} cannot be compared within " \
                    f"{in_words(CORRESPONDENCE_OPERATIONS)}; smaller extents may help" if why is None else why
            if why := self.answers[key]:
                return Refusal(why, frozenset(n for g in groups for n in loops[g]), groups)
        return None

    def _why_not(self, operand: str, content: Expr, loops: Sequence[tuple[str, ...]]) -> str:
        """The reason in words with two iterations; "" where the elements correspond."""
        if clash := self._clash(operand, content, loops):
            return clash
        places = places_of(self.intrinsic.contraction, operand)
        read = [(self._place(operand, e, loops), self._elements(part), e, part)
                for e, part in zip(places, parts_of(content), strict=True)]
        union = isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
        for place, element, _, _ in read:
            union = union.union(isl.UnionMap.from_map(place.reverse().apply_range(element)))
        if not union.is_single_valued():
            return self._two_values(operand, read)
        written = operand in {r.output.array for r in self.intrinsic.contraction.results}
        if written and not self.adds_up and not union.is_injective():
            return f"two places of operand {operand} would hold the same element, so one sum is lost"
        return ""

    def _two_values(self, operand: str, read: Sequence[tuple[isl.Map, isl.Map, Element, Expr]]) -> str:
        """Two iterations that need one place of the operand for different elements."""
        for at, (place, element, spelt, part) in enumerate(read):
            for other_place, other_element, other_spelt, other in read[at:]:
                same = place.apply_range(other_place.reverse())
                if element.get_tuple_name(isl.dim_type.out) == other_element.get_tuple_name(isl.dim_type.out):
                    same = same.subtract(element.apply_range(other_element.reverse()))
                if not same.is_empty():
                    pair, depth = same.sample().wrap().sample_point(), self.fragment.statement.depth
                    values = [int(pair.get_coordinate_val(isl.dim_type.set, i).get_num_si()) for i in range(2 * depth)]
                    return self._told_apart(operand, (spelt, part, values[:depth]),
                                            (other_spelt, other, values[depth:]))
        return f"operand {operand} would need two elements at one place"

    def _sampled_points(self, mapped: Collection[str]) -> dict[str, Column]:
        """Iterations from a corner of the box, along the loops that are mapped."""
        most = max(2, int(SAMPLED ** (1 / max(1, len(mapped)))))
        loops = self.fragment.loops
        ranges = [range(p.lower, p.lower + (min(p.extent, most) if p.name in mapped else 1)) for p in loops]
        grid = np.meshgrid(*map(np.array, ranges), indexing="ij")
        return {p.name: values.ravel() for p, values in zip(loops, grid, strict=True)}

    def _clash(self, operand: str, content: Expr, loops: Sequence[tuple[str, ...]]) -> str:
        """The same from some iterations of a box, which is how most mappings are refused; "" proves nothing."""
        fragment = self.fragment
        parts = list(zip(places_of(self.intrinsic.contraction, operand), parts_of(content), strict=True))
        if not fragment.is_box or fragment.kept or not all(_is_affine(fragment, part) for _, part in parts):
            return ""
        points = self._sampled_points({n for members in loops for n in members})
        rows = [(self._sampled_place(operand, element, loops, points), self._sampled_elements(part, points))
                for element, part in parts]
        keys = _numbered([np.concatenate(x) for x in zip(*(place for place, _ in rows), strict=True)])
        held = _numbered([np.concatenate(x) for x in itertools.zip_longest(
            *(elements for _, elements in rows), fillvalue=np.zeros(keys.size // len(rows), np.int64))])
        order = np.argsort(keys, kind="stable")
        bad = np.flatnonzero((keys[order][1:] == keys[order][:-1]) & (held[order][1:] != held[order][:-1]))
        if not bad.size:
            return ""
        size = keys.size // len(rows)
        pair = [divmod(int(order[bad[0] + step]), size) for step in (0, 1)]
        first, second = ((parts[p][0], parts[p][1], [int(points[n][at]) for n in fragment.statement.iterators])
                         for p, at in pair)
        return self._told_apart(operand, first, second)

    def _sampled_place(self, operand: str, element: Element, loops: Sequence[tuple[str, ...]],
                       points: Mapping[str, Column]) -> list[Column]:
        """The coordinates of `_place` inside the operand, at some iterations of one choice of the loops outside."""
        found, digits = [], {}
        zeros = _zeros(points)
        for g in self.shared[operand]:
            index = zeros
            for n in loops[g]:
                index = index * self.fragment.loop(n).extent + points[n] - self.fragment.loop(n).lower
            rest = math.prod(self.groups[g].extents)
            found.append(index // rest)
            for name, size in zip(self.groups[g].dimensions, self.groups[g].extents, strict=True):
                rest //= size
                digits[name] = index // rest % size
        return [*found, *(sum((c * digits[n] for n, c in s.terms), zeros + s.constant) for s in element.subscripts)]

    def _sampled_elements(self, content: Expr, points: Mapping[str, Column]) -> list[Column]:
        """The number of the expression's shape, and the elements and iterators that it is computed from."""
        zeros = _zeros(points)
        found = [zeros + int(self._shape(content)[1:])]
        for node in walk(content):
            if isinstance(node, IteratorRef):
                found.append(points[node.name])
            elif isinstance(node, Load):
                found += [sum((c * points[n] for n, c in index.coefficients),
                              zeros + self.fragment.constant(node.reference, at))
                          for at, index in enumerate(self.fragment.indices[node.reference])]
        return found

    def _told_apart(self, operand: str, first: Instance, second: Instance) -> str:
        (spelt, part, values), (other_spelt, other, others) = first, second
        theirs = f"{spelt}" if spelt == other_spelt else f"{spelt} and {other_spelt}"
        return (f"operand {operand}: {self.intrinsic.name} reads {theirs}, one element of {operand} for "
                f"{self._words(part)} at {self._at(values)} and {self._words(other)} at {self._at(others)}, which the "
                "program tells apart")

    def _at(self, values: Sequence[int]) -> str:
        return "(" + ", ".join(f"{n} = {v}" for n, v in zip(
            self.fragment.statement.iterators, values, strict=True)) + ")"

    def _words(self, e: Expr) -> str:
        return self.fragment.text(e)

    def _place(self, operand: str, element: Element, loops: Sequence[tuple[str, ...]]) -> isl.Map:
        """From iterations to the block of the operand's buffer that they use, and the element in it."""
        mapped = {n for members in loops for n in members}
        outer = [loop.name for loop in self.fragment.loops if loop.name not in mapped]
        tiles, digits, where = [], [], []
        for g in self.shared[operand]:
            rest, terms = math.prod(self.groups[g].extents), []
            tiles.append(f"ps_t{g}")
            terms.append(f"{rest} * ps_t{g}")
            for name, size in zip(self.groups[g].dimensions, self.groups[g].extents, strict=True):
                rest //= size
                digits.append(f"ps_{name}")
                terms.append(f"{rest} * ps_{name}")
                where.append(f"0 <= ps_{name} < {size}")
            where.append(f"{' + '.join(terms)} = {fused_index(self.fragment, loops[g])}")
        subscripts = [_text(s, {n: f"ps_{n}" for n in s.names}) for s in element.subscripts]
        where += [f"ps_s{at} = {text}" for at, text in enumerate(subscripts)]
        coordinates = [*(f"ps_o{at} = {n}" for at, n in enumerate(outer)), *tiles,
                       *(f"ps_s{at}" for at in range(len(subscripts)))]
        bound = f"exists {', '.join(digits)}: " if digits else ""
        statement = self.fragment.statement
        text = f"{self.fragment.parameters_text}{{ {statement.name}[{', '.join(statement.iterators)}] -> " \
               f"P[{', '.join(coordinates)}] : {bound}{' and '.join(where) or 'true'} }}"
        return isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_domain(self.fragment.domain)

    def _elements(self, content: Expr) -> isl.Map:
        """From iterations to the elements and iterators that an expression is computed from; named by its shape."""
        found = iteration_map(self.fragment, [n.name for n in walk(content) if isinstance(n, IteratorRef)])
        for load in [n for n in walk(content) if isinstance(n, Load)]:
            found = found.flat_range_product(self.fragment.relation(load.reference))

        return found.set_tuple_name(isl.dim_type.out, self._shape(content))

    def _shape(self, content: Expr) -> str:
        """The name of an expression without the elements and iterators that it is computed from."""
        def nameless(e: Expr) -> Expr:
            if isinstance(e, Load):
                return Load(self.fragment.statement.access(e.reference).array, e.dtype)
            return IteratorRef("i", e.dtype) if isinstance(e, IteratorRef) else e

        shape = whole(rebuild(content, nameless))
        return self.shapes.setdefault(shape, f"V{len(self.shapes)}")

    @cached_property
    def shapes(self) -> dict[str, str]:
        """Names of expressions without the elements and iterators that they are computed from."""
        return {}


def _zeros(points: Mapping[str, Column]) -> Column:
    """One per sampled iteration; a statement without loops has one."""
    return np.zeros(next((values.size for values in points.values()), 1), np.int64)


def _is_affine(fragment: Fragment, content: Expr) -> bool:
    """Whether the elements in an expression are found by affine subscripts."""
    return all(i.affine for x in walk(content) if isinstance(x, Load) for i in fragment.indices[x.reference])


def _numbered(columns: Sequence[Column]) -> Column:
    """One number per row of coordinates, equal for equal rows only."""
    found = np.zeros(columns[0].size if columns else 1, np.int64)
    for column in columns:
        _, found = np.unique(found * (int(column.max()) - int(column.min()) + 1) + column - column.min(),
                             return_inverse=True)
    return found


def _text(affine: Affine, names: Mapping[str, str]) -> str:
    return " + ".join([*(f"{c} * {names[n]}" for n, c in affine.terms), str(affine.constant)])
