"""A part of a program as recurrence equations: what every statement instance computes, and where its values come from.

    S1[i]:  s = (i = 0: S0[]; i > 0: S1[i - 1]) + x[i]

A read is the value of an instance of the same part (exact data flow), or of an element that was there before.  Memory
is gone then: scalars and their expanded copies, and all orders of the loops, have the same equations.

Source: P. Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.scop.body import Assign, Binary, Cast, Expr, Load, walk
from polysched.scop.dtypes import usual_conversion
from polysched.scop.scop import Array, Scop, Statement

SetOrMap = TypeVar("SetOrMap", isl.Set, isl.Map)
OUTER = "_outer"   # the iterators of the loops around a call are parameters of these names, with a number


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """Where some instances of a read get their value.

    Parameters
    ----------
    statement : that computed it; None for an element that was there before.
    array : that the element lies in.
    relation : `{ [reader] -> [instance] }`, or `{ [reader] -> [element] }`, for those instances.
    """

    statement: str | None
    array: str
    relation: isl.Map


@dataclass(frozen=True, eq=False, kw_only=True)
class Equation:
    """What the instances of one statement compute.

    Parameters
    ----------
    value : in the type of the element; loads name the reads.
    sources : per read its sources, of disjoint instances.
    target : `{ [instance] -> [element] }`.
    iterators : all of the statement's, those of loops around first.
    final : the instances whose element nothing of the part writes afterwards.
    """

    name: str
    array: str
    domain: isl.Set
    value: Expr
    iterators: tuple[str, ...]
    sources: dict[str, tuple[Source, ...]]
    target: isl.Map
    final: isl.Set


@dataclass(frozen=True, eq=False, kw_only=True)
class Recurrences:
    """The equations of some statements inside some outer loops, whose iterators are parameters.

    Parameters
    ----------
    prefix : of the names of parameters, so that two systems do not share them; iterators of outer loops have none.
    depth : number of loops around.
    """

    scop: Scop
    equations: dict[str, Equation]
    prefix: str
    depth: int

    @cached_property
    def recursive(self) -> frozenset[str]:
        """Statements whose values depend on their own."""
        edges = {name: {s.statement for many in e.sources.values() for s in many if s.statement}
                 for name, e in self.equations.items()}
        return frozenset(n for n in edges if n in _reached(edges, edges[n]))

    def array(self, name: str) -> Array:
        """The array of this name."""
        return self.scop.array(name)

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The arrays that something writes, in textual order."""
        return tuple(dict.fromkeys(e.array for e in self.equations.values()))

    def finals(self, array: str) -> list[Equation]:
        """The statements whose values stay in an array."""
        return [e for e in self.equations.values() if e.array == array and not e.final.is_empty()]

    @cached_property
    def iterations(self) -> isl.Set:
        """The values of the outer iterators for which something is computed, as a set of parameters."""
        total = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ : false }")
        for equation in self.equations.values():
            total = total.union(equation.domain.params())
        return total.coalesce()


def _reached(edges: dict[str, set[str]], start: Collection[str]) -> set[str]:
    seen: set[str] = set()
    left = list(start)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += edges[name]
    return seen


def recurrences(dependences: Dependences, names: Collection[str], *, depth: int = 0, prefix: str = "",
                context: isl.Set | None = None, outer: Mapping[str, tuple[int, ...]] | None = None) -> Recurrences:
    """The equations of some statements, each an assignment with exact accesses.

    Parameters
    ----------
    names : the statements; each is at least as deep as `depth`.
    depth : so many loops are around; the same iterators mean the same iterations for all statements.
    outer : per statement which of its loops these are; the outermost ones when None.
    prefix : as for `Recurrences`.
    context : the values of parameters that count; those of the program when None.
    """
    scop = dependences.scop
    context = scop.context if context is None else context
    chosen = [s for s in scop.statements if s.name in names]
    inside = [_Hoisted(s, (outer or {}).get(s.name, tuple(range(depth))), prefix, context) for s in chosen]
    by_name = {h.statement.name: h for h in inside}
    flows: dict[str, list[Source]] = {}
    overwritten: dict[str, isl.Set] = {}
    for pair in dependences.pairs:
        if pair.source not in by_name or pair.sink not in by_name:
            continue
        if pair.kind is DependenceKind.FLOW:
            relation = by_name[pair.sink].instances(pair.relation.reverse(), by_name[pair.source])
            if not relation.is_empty():
                flows.setdefault(pair.sink_reference, []).append(
                    Source(statement=pair.source, array=pair.array, relation=relation))
        elif pair.kind is DependenceKind.OUTPUT:
            again = by_name[pair.source].instances(pair.relation, by_name[pair.sink]).domain()
            known = overwritten.get(pair.source)
            overwritten[pair.source] = again if known is None else known.union(again)
    equations = {}
    for hoisted in inside:
        statement = hoisted.statement
        item = statement.body[0]
        assert isinstance(item, Assign)
        domain = hoisted.domain
        target = statement.access(item.target)
        final = domain.subtract(overwritten[statement.name]) if statement.name in overwritten else domain
        equations[statement.name] = Equation(
            name=statement.name, array=target.array, domain=domain, value=assigned(item), final=final.coalesce(),
            iterators=hoisted.iterators, target=hoisted.elements(target.relation),
            sources={r: tuple(_sources(hoisted, r, flows)) for r in _loads(item)})
    return Recurrences(scop=scop, equations=equations, prefix=prefix, depth=depth)


def assigned(item: Assign) -> Expr:
    """The new value of the target, in its type."""
    value = item.value
    if item.op is not None:
        assert item.read is not None
        value = Binary(item.op, Load(item.read, item.dtype), value, usual_conversion(item.dtype, value.dtype))
    return value if value.dtype == item.dtype else Cast(value, item.dtype)


def _loads(item: Assign) -> list[str]:
    return list(dict.fromkeys(e.reference for e in walk(assigned(item)) if isinstance(e, Load)))


def _sources(hoisted: _Hoisted, reference: str, flows: dict[str, list[Source]]) -> Iterator[Source]:
    """The sources of one read; what no instance of the part wrote was there before."""
    access = hoisted.statement.access(reference)
    before = hoisted.domain
    for source in flows.get(reference, ()):
        relation = source.relation.intersect_domain(hoisted.domain)
        if not relation.is_empty():
            yield Source(statement=source.statement, array=source.array, relation=relation)
        before = before.subtract(relation.domain())
    if not before.is_empty():
        yield Source(statement=None, array=access.array,
                     relation=hoisted.elements(access.relation).intersect_domain(before.coalesce()))


@dataclass(frozen=True, eq=False)
class _Hoisted:
    """A statement some of whose iterators became parameters."""

    statement: Statement
    outer: tuple[int, ...]
    prefix: str
    context: isl.Set

    @property
    def iterators(self) -> tuple[str, ...]:
        """Those that became parameters first."""
        names = self.statement.iterators
        return (*(names[at] for at in self.outer), *(n for at, n in enumerate(names) if at not in self.outer))

    @cached_property
    def domain(self) -> isl.Set:
        domain = self.statement.domain.intersect_params(self.context).reset_tuple_id()
        first = domain.dim(isl.dim_type.param)
        for at, place in enumerate(self._places()):
            domain = domain.move_dims(isl.dim_type.param, first + at, isl.dim_type.set, place, 1)
        for at in range(domain.dim(isl.dim_type.set)):
            domain = domain.set_dim_name(isl.dim_type.set, at, f"i{at}")
        return self._named(domain.coalesce(), first)

    def elements(self, relation: isl.Map) -> isl.Map:
        """An access relation."""
        relation = relation.intersect_params(self.context)
        first = relation.dim(isl.dim_type.param)
        relation = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        for at, place in enumerate(self._places()):
            relation = relation.move_dims(isl.dim_type.param, first + at, isl.dim_type.in_, place, 1)
        return self._named(relation, first)

    def instances(self, relation: isl.Map, other: _Hoisted) -> isl.Map:
        """Of a relation to instances of another statement the pairs inside one iteration of the loops around."""
        relation = relation.intersect_params(self.context)
        relation = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        relation = same_iterations(relation, self.outer, other.outer)
        first = relation.dim(isl.dim_type.param)
        for place in other._places():
            relation = relation.project_out(isl.dim_type.out, place, 1)
        for at, place in enumerate(self._places()):
            relation = relation.move_dims(isl.dim_type.param, first + at, isl.dim_type.in_, place, 1)
        return self._named(relation, first)

    def _places(self) -> list[int]:
        """Where the iterators stand that become parameters, one after the other, once those before are gone."""
        return [place - sum(earlier < place for earlier in self.outer[:at]) for at, place in enumerate(self.outer)]

    def _named(self, value: SetOrMap, first: int) -> SetOrMap:
        for at in range(first):
            name = value.get_dim_name(isl.dim_type.param, at)
            value = value.set_dim_name(isl.dim_type.param, at, f"{self.prefix}{name}")
        for at in range(len(self.outer)):
            value = value.set_dim_name(isl.dim_type.param, first + at, f"{OUTER}{at}")
        return value


def same_iterations(relation: isl.Map, source: tuple[int, ...], sink: tuple[int, ...]) -> isl.Map:
    """The pairs of instances inside one iteration of the loops around, which are these iterators of both."""
    for a, b in zip(source, sink, strict=True):
        relation = relation.equate(isl.dim_type.in_, a, isl.dim_type.out, b)
    return relation


def loops_around(dependences: Dependences, names: Collection[str], depth: int) -> dict[str, tuple[int, ...]]:
    """Per statement the iterators that count the loops around: those that values keep on their way from one another.

    The last of the deepest statements has its outermost ones; others, whose loops may stand in another order, follow.
    """
    deepest = max((dependences.scop.statement(n) for n in reversed(tuple(names))), key=lambda s: s.depth).name
    found = {deepest: tuple(range(depth))}
    pairs = [p for p in dependences.pairs if p.kind is DependenceKind.FLOW and {p.source, p.sink} <= {*names}]
    for _ in names:
        for pair in pairs if depth else ():
            for known, other, relation in ((pair.source, pair.sink, pair.relation),
                                           (pair.sink, pair.source, pair.relation.reverse())):
                if known in found and other not in found and (kept := _kept(relation, found[known])) is not None:
                    found[other] = kept
    return {n: found.get(n, tuple(range(depth))) for n in names}


def _kept(relation: isl.Map, outer: tuple[int, ...]) -> tuple[int, ...] | None:
    """The iterators of the image that always equal these of the domain."""
    found: list[int] = []
    for a in outer:
        same = [b for b in range(relation.dim(isl.dim_type.out)) if b not in found and relation.is_subset(
            relation.equate(isl.dim_type.in_, a, isl.dim_type.out, b))]
        if not same:
            return None
        found.append(same[0])
    return tuple(found)
