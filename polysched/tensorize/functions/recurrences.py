"""A part of a program as recurrence equations: what every statement instance computes, and where its values come from.

    S1[i]:  s = (i = 0: S0[]; i > 0: S1[i - 1]) + x[i]

A read is the value of an instance of the same part (exact data flow), or of an element that was there before.  Memory
is gone then: scalars and their expanded copies, and all orders of the loops, have the same equations.

Source: P. Feautrier, "Dataflow analysis of array and scalar references", IJPP 20(1), 1991.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Cast, Expr, Load, walk
from polysched.scop.dtypes import common_type
from polysched.scop.scop import Array, Scop, Statement

SetOrMap = TypeVar("SetOrMap", isl.Set, isl.Map)
OUTER = "_outer"   # the iterators of the loops around a call are parameters of these names, with a number


@dataclass(frozen=True)
class Around:
    """Which iterators of a statement count the loops around a call.

    Parameters
    ----------
    whole : positions of iterators that stand still in a call.
    tiles : positions of iterators that run through one tile in a call, and the tile's size.
    """

    whole: tuple[int, ...] = ()
    tiles: tuple[tuple[int, int], ...] = ()

    @property
    def depth(self) -> int:
        """Number of loops around."""
        return len(self.whole) + len(self.tiles)


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
    iterators, numbers : all of the statement's, and their values in isl's words.
    outer_names : the iterators of the loops around.
    final : the instances whose element nothing of the part writes afterwards.
    """

    name: str
    array: str
    domain: isl.Set
    value: Expr
    iterators: tuple[str, ...]
    numbers: tuple[str, ...]
    outer_names: tuple[str, ...]
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
                context: isl.Set | None = None, outer: Mapping[str, Around] | None = None) -> Recurrences:
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
    inside = [_Hoisted(s, (outer or {}).get(s.name, Around(tuple(range(depth)))), prefix, context) for s in chosen]
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
            iterators=statement.iterators, numbers=hoisted.numbers, outer_names=hoisted.outer_names,
            target=hoisted.elements(target.relation),
            sources={r: tuple(_sources(hoisted, r, flows)) for r in _loads(item)})
    return Recurrences(scop=scop, equations=equations, prefix=prefix, depth=depth)


def assigned(item: Assign) -> Expr:
    """The new value of the target, in its type."""
    value = item.value
    if item.op is not None:
        assert item.read is not None
        value = Binary(item.op, Load(item.read, item.dtype), value, common_type(item.op, item.dtype, value.dtype))
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
    around: Around
    prefix: str
    context: isl.Set

    @property
    def outer_names(self) -> tuple[str, ...]:
        """The iterators that became parameters."""
        names = self.statement.iterators
        return (*(names[at] for at in self.around.whole), *(names[at] for at, _ in self.around.tiles))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The values of all iterators in terms of parameters and of the dimensions that are left."""
        whole = self.around.whole
        left = [at for at in range(self.statement.depth) if at not in whole]
        texts = {at: f"i{place}" for place, at in enumerate(left)} | {at: f"{OUTER}{n}" for n, at in enumerate(whole)}
        for number, (at, size) in enumerate(self.around.tiles, len(whole)):
            texts[at] = f"{size} * {OUTER}{number} + {texts[at]}"
        return tuple(texts[at] for at in range(self.statement.depth))

    @cached_property
    def domain(self) -> isl.Set:
        domain = self.statement.domain.intersect_params(self.context).reset_tuple_id()
        domain = self._tiled.intersect_range(domain).domain()
        first = domain.dim(isl.dim_type.param)
        for place in self._places():
            domain = domain.move_dims(isl.dim_type.param, domain.dim(isl.dim_type.param), isl.dim_type.set, place, 1)
        for at in range(domain.dim(isl.dim_type.set)):
            domain = domain.set_dim_name(isl.dim_type.set, at, f"i{at}")
        return self._named(domain.coalesce(), first)

    def elements(self, relation: isl.Map) -> isl.Map:
        """An access relation."""
        relation = relation.intersect_params(self.context)
        relation = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        relation = self._tiled.apply_range(relation)
        first = relation.dim(isl.dim_type.param)
        for place in self._places():
            relation = relation.move_dims(isl.dim_type.param, relation.dim(isl.dim_type.param), isl.dim_type.in_,
                                          place, 1)
        return self._named(relation, first)

    def instances(self, relation: isl.Map, other: _Hoisted) -> isl.Map:
        """Of a relation to instances of another statement the pairs inside one iteration of the loops around."""
        relation = relation.intersect_params(self.context)
        relation = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        for a, b in zip(self.around.whole, other.around.whole, strict=True):
            relation = relation.equate(isl.dim_type.in_, a, isl.dim_type.out, b)
        relation = self._tiled.apply_range(relation).apply_range(other._tiled.reverse())
        first = relation.dim(isl.dim_type.param)
        for place in other._places():
            relation = relation.project_out(isl.dim_type.out, place, 1)
        for place in self._places():
            relation = relation.move_dims(isl.dim_type.param, relation.dim(isl.dim_type.param), isl.dim_type.in_,
                                          place, 1)
        return self._named(relation, first)

    @cached_property
    def _tiled(self) -> isl.Map:
        """`[tile] -> { [place in the tile, ...] -> [instance] }`."""
        return tiling_map(self.statement.depth, self.around)

    def _places(self) -> list[int]:
        """Where the iterators stand that become parameters, one after the other, once those before are gone."""
        whole = self.around.whole
        return [place - sum(earlier < place for earlier in whole[:at]) for at, place in enumerate(whole)]

    def _named(self, value: SetOrMap, first: int) -> SetOrMap:
        for at in range(first):
            name = str(value.get_dim_name(isl.dim_type.param, at))
            if not name.startswith(OUTER):
                value = value.set_dim_name(isl.dim_type.param, at, f"{self.prefix}{name}")
        for at in range(len(self.around.whole)):
            value = value.set_dim_name(isl.dim_type.param, first + at, f"{OUTER}{at}")
        return value


def tiling_map(depth: int, around: Around) -> isl.Map:
    """The instances by their places in tiles, whose numbers are parameters; the identity without tiles."""
    dims = [f"i{at}" for at in range(depth)]
    names = {at: f"{OUTER}{len(around.whole) + number}" for number, (at, _) in enumerate(around.tiles)}
    sizes = dict(around.tiles)
    images = [f"{sizes[at]} * {names[at]} + {d}" if at in sizes else d for at, d in enumerate(dims)]
    inside = [f"0 <= {dims[at]} < {size}" for at, size in around.tiles]
    return isl.Map.read_from_str(
        isl.DEFAULT_CONTEXT, f"[{', '.join(names.values())}] -> {{ [{', '.join(dims)}] -> [{', '.join(images)}] : "
                             f"{' and '.join(inside) or 'true'} }}")


def same_iterations(relation: isl.Map, source: Around, sink: Around) -> isl.Map:
    """The pairs of instances inside one iteration of the loops around."""
    for a, b in zip(source.whole, sink.whole, strict=True):
        relation = relation.equate(isl.dim_type.in_, a, isl.dim_type.out, b)
    for tile, other in zip(source.tiles, sink.tiles, strict=True):
        relation = relation.intersect(_tiles_compared(relation, tile, other, "="))
    return relation


def later_iterations(relation: isl.Map, source: Around, sink: Around) -> isl.Map:
    """The pairs whose first instance belongs to a later iteration of the loops around than the second."""
    found = isl.Map.empty(relation.get_space())
    for a, b in zip(source.whole, sink.whole, strict=True):
        found = found.union(relation.order_gt(isl.dim_type.in_, a, isl.dim_type.out, b))
        relation = relation.equate(isl.dim_type.in_, a, isl.dim_type.out, b)
    for tile, other in zip(source.tiles, sink.tiles, strict=True):
        found = found.union(relation.intersect(_tiles_compared(relation, tile, other, ">")))
        relation = relation.intersect(_tiles_compared(relation, tile, other, "="))
    return found


def _tiles_compared(relation: isl.Map, source: tuple[int, int], sink: tuple[int, int], op: str) -> isl.Map:
    """All pairs of instances the numbers of whose tiles are equal, or in an order."""
    (a, size), (b, other) = source, sink
    ins = ", ".join(f"i{at}" for at in range(relation.dim(isl.dim_type.in_)))
    outs = ", ".join(f"j{at}" for at in range(relation.dim(isl.dim_type.out)))
    text = f"{{ [{ins}] -> [{outs}] : floor(i{a} / {size}) {op} floor(j{b} / {other}) }}"
    made = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, text)
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        if relation.has_tuple_id(kind):
            made = made.set_tuple_id(kind, relation.get_tuple_id(kind))
    return made


def loops_around(dependences: Dependences, names: Collection[str], first: str, around: Around) -> dict[str, Around]:
    """Per statement the iterators that count the loops around: those that values keep on their way from one another.

    Parameters
    ----------
    first, around : a statement and its iterators; others, whose loops may stand in another order, follow. What no
        value leads to has its outermost ones.
    """
    found = {first: around}
    pairs = [p for p in dependences.pairs if p.kind is DependenceKind.FLOW and {p.source, p.sink} <= {*names}]
    for _ in names:
        for pair in pairs if around.depth else ():
            for known, other, relation in ((pair.source, pair.sink, pair.relation),
                                           (pair.sink, pair.source, pair.relation.reverse())):
                if known in found and other not in found and (kept := _kept(relation, found[known])) is not None:
                    found[other] = kept
    return {n: found.get(n, Around(tuple(range(around.depth)))) for n in names}


def _kept(relation: isl.Map, around: Around) -> Around | None:
    """The iterators of the image that always equal these of the domain."""
    found: list[int] = []
    for a in (*around.whole, *(at for at, _ in around.tiles)):
        same = [b for b in range(relation.dim(isl.dim_type.out)) if b not in found and relation.is_subset(
            relation.equate(isl.dim_type.in_, a, isl.dim_type.out, b))]
        if not same:
            return None
        found.append(same[0])
    sizes = [size for _, size in around.tiles]
    return Around(tuple(found[:len(around.whole)]), tuple(zip(found[len(around.whole):], sizes, strict=True)))
