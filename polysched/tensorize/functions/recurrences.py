"""A part of a program as recurrence equations: what every statement instance computes, and where its values come from.

    S1[i]:  s = (i = 0: S0[]; i > 0: S1[i - 1]) + x[i]

A read is the value of an instance of the same part (exact data flow), or of an element that was there before.  Memory
is gone then: scalars and their expanded copies, and all orders of the loops, have the same equations.

Source: P. Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
                context: isl.Set | None = None) -> Recurrences:
    """The equations of some statements, each an assignment with exact accesses.

    Parameters
    ----------
    names : the statements; each is at least as deep as `depth`.
    depth : so many outermost loops are around; the same iterators mean the same iterations for all statements.
    prefix : as for `Recurrences`.
    context : the values of parameters that count; those of the program when None.
    """
    scop = dependences.scop
    context = scop.context if context is None else context
    chosen = [s for s in scop.statements if s.name in names]
    inside = [_Hoisted(s, depth, prefix, context) for s in chosen]
    by_name = {h.statement.name: h for h in inside}
    flows: dict[str, list[Source]] = {}
    overwritten: dict[str, isl.Set] = {}
    for pair in dependences.pairs:
        if pair.source not in by_name or pair.sink not in by_name:
            continue
        if pair.kind is DependenceKind.FLOW:
            relation = by_name[pair.sink].instances(pair.relation.reverse())
            if not relation.is_empty():
                flows.setdefault(pair.sink_reference, []).append(
                    Source(statement=pair.source, array=pair.array, relation=relation))
        elif pair.kind is DependenceKind.OUTPUT:
            again = by_name[pair.source].instances(pair.relation).domain()
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
            iterators=statement.iterators, target=hoisted.elements(target.relation),
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
    """A statement whose outermost iterators became parameters."""

    statement: Statement
    depth: int
    prefix: str
    context: isl.Set

    @cached_property
    def domain(self) -> isl.Set:
        domain = self.statement.domain.intersect_params(self.context)
        first = domain.dim(isl.dim_type.param)
        domain = domain.reset_tuple_id().move_dims(isl.dim_type.param, first, isl.dim_type.set, 0, self.depth)
        for at in range(domain.dim(isl.dim_type.set)):
            domain = domain.set_dim_name(isl.dim_type.set, at, f"i{at}")
        return self._named(domain.coalesce(), first)

    def elements(self, relation: isl.Map) -> isl.Map:
        """An access relation."""
        relation = relation.intersect_params(self.context)
        first = relation.dim(isl.dim_type.param)
        relation = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        return self._named(relation.move_dims(isl.dim_type.param, first, isl.dim_type.in_, 0, self.depth), first)

    def instances(self, relation: isl.Map) -> isl.Map:
        """Of a relation between instances the pairs inside one iteration of the loops around."""
        relation = relation.intersect_params(self.context)
        relation = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        for at in range(self.depth):
            relation = relation.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
        first = relation.dim(isl.dim_type.param)
        relation = relation.project_out(isl.dim_type.out, 0, self.depth)
        return self._named(relation.move_dims(isl.dim_type.param, first, isl.dim_type.in_, 0, self.depth), first)

    def _named(self, value: SetOrMap, first: int) -> SetOrMap:
        for at in range(first):
            name = value.get_dim_name(isl.dim_type.param, at)
            value = value.set_dim_name(isl.dim_type.param, at, f"{self.prefix}{name}")
        for at in range(self.depth):
            value = value.set_dim_name(isl.dim_type.param, first + at, f"{OUTER}{at}")
        return value
