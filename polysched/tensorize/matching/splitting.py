"""One loop split in two, so that its halves may go into different dimensions of an instruction.

Rewrite:  for k  ->  for k_tile, for k_lane:  k = first + size * k_tile + k_lane,  0 <= k_lane < size

The statement gets one more iterator; domain, accesses, bodies and the schedule as written follow by the bijection
between the two sets of instances, so everything that is decided later is decided on an ordinary Scop, and the same
instances wait for each other as before: dependences are renamed, not analysed again.  Where the size
does not divide the extent the new domain is no box, and isl's check of the padding decides; or the iterations that fill
no whole instruction are made a statement of their own first (index-set splitting):

Rewrite:  for k: S  ->  for k: if (k < end) S; if (k >= end) S_rest
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

import islpy as isl

from polysched.dependence.dependences import Dependence, Dependences
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import Band, Sequence, from_isl, replace_node, split_bands, to_isl, walk
from polysched.scop.body import Assign, Binary, Expr, IteratorRef, Literal, rebuild
from polysched.scop.scop import Scop, Statement, union_map, union_set
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.matching.encoding import groups
from polysched.tensorize.preparing.ordering import shared_depth
from polysched.tensorize.software.fragment import Fragment, fragments
from polysched.tensorize.software.renaming import fresh_name, named_set, renamed_statement


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitFragment:
    """A fragment with one loop in two, the dependences of its program, and the names of the halves."""

    fragment: Fragment
    dependences: Dependences
    halves: tuple[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class WholeFragment:
    """A fragment whose loop fills whole executions, each of `unit` iterations; the others are the statement `rest`."""

    fragment: Fragment
    dependences: Dependences
    loop: str
    unit: int
    rest: str


@dataclass(frozen=True, eq=False, kw_only=True)
class CutScop:
    """A Scop with the same instances under other names.

    Parameters
    ----------
    before : per statement what it was, and the instance that each of its instances was; others are as they were.
    references : per statement that got new ones, its references by those that they were.
    """

    scop: Scop
    before: Mapping[str, tuple[str, isl.Map]]
    references: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def renamed(self, dependences: Dependences) -> Dependences:
        """The dependences of the Scop before as those of this one."""
        now: dict[str, list[str]] = {}
        for name, (old, _) in self.before.items():
            now.setdefault(old, []).append(name)
        pairs = []
        for pair in dependences.pairs:
            for source in now.get(pair.source, [pair.source]):
                for sink in now.get(pair.sink, [pair.sink]):
                    if (renamed := self._renamed(pair, source, sink)) is not None:
                        pairs.append(renamed)
        return replace(dependences, scop=self.scop, pairs=tuple(pairs))

    def _renamed(self, pair: Dependence, source: str, sink: str) -> Dependence | None:
        """What of a dependence is between two statements; None where it is nothing."""
        relation = pair.relation
        if source in self.before:
            relation = self.before[source][1].apply_range(relation)
        if sink in self.before:
            relation = relation.apply_range(self.before[sink][1].reverse())
        if relation.is_empty():
            return None
        ends = [self.references.get(name, {}).get(r, r)
                for name, r in ((source, pair.source_reference), (sink, pair.sink_reference))]
        return replace(pair, source=source, sink=sink, relation=relation, source_reference=ends[0],
                       sink_reference=ends[1], reduction=pair.reduction and source == sink)


def split_fragments(fragment: Fragment, intrinsic: Intrinsic, dependences: Dependences) -> Iterator[SplitFragment]:
    """Every loop that the statement has for itself, split by every extent of the instruction that it exceeds."""
    sizes = sorted({g.extent for g in groups(intrinsic) if g.extent is not None and g.extent > 1})
    for loop in fragment.loops[shared_depth(fragment):]:
        for size in sizes:
            if loop.extent > size:
                cut, halves = split_loop(fragment.scop, fragment.statement.name, loop.name, size=size,
                                         first=loop.lower)
                made = next(f for f in fragments(cut.scop, sizes=fragment.sizes)
                            if f.statement.name == fragment.statement.name).inside(len(fragment.kept))
                if all(made.loop(half).extent > 1 for half in halves):   # else a stride of the loop fills a half
                    yield SplitFragment(fragment=made, dependences=cut.renamed(dependences), halves=halves)


def whole_fragments(fragment: Fragment, units: Mapping[str, Collection[int]],
                    dependences: Dependences) -> Iterator[WholeFragment]:
    """Without the last iterations of one reduction, which fill no whole execution and become a statement of their own.

    Parameters
    ----------
    units : per loop how many of its iterations executions of the instruction take at once.
    """
    for loop in fragment.loops[shared_depth(fragment):]:
        for unit in sorted(units.get(loop.name, ())):
            rest = loop.extent % unit
            if rest and loop.extent > unit:
                cut, name = without_last(fragment.scop, fragment.statement.name, loop.name,
                                         end=loop.lower + loop.extent - rest)
                made = next(f for f in fragments(cut.scop, sizes=fragment.sizes)
                            if f.statement.name == fragment.statement.name).inside(len(fragment.kept))
                yield WholeFragment(fragment=made, dependences=cut.renamed(dependences), loop=loop.name, unit=unit,
                                    rest=name)


def split_loop(scop: Scop, name: str, loop: str, *, size: int, first: int) -> tuple[CutScop, tuple[str, str]]:
    """The Scop with one loop of one statement in two, and the names of the halves, the outer one first.

    Parameters
    ----------
    first : least value of the loop, where the first whole half begins.
    """
    statement = scop.statement(name)
    taken = {n for s in scop.statements for n in s.iterators} | {a.name for a in scop.arrays}
    outer, inner = (fresh_name(f"{loop}_{half}", taken) for half in ("tile", "lane"))
    old, at = statement.iterators, statement.iterators.index(loop)
    new = (*old[:at], outer, inner, *old[at + 1:])
    value = f"{first} + {size} * {outer} + {inner}"
    text = f"{{ {name}[{', '.join(new)}] -> {name}[{', '.join((*old[:at], value, *old[at + 1:]))}] " \
           f": 0 <= {inner} < {size} }}"
    back = isl.Map.read_from_str(scop.context.get_ctx(), text)
    statements = tuple(_split_statement(s, back, new, loop, (outer, inner), size, first) if s.name == name else s
                       for s in scop.statements)
    union = isl.UnionMap.from_map(back)
    for s in scop.statements:
        if s.name != name:
            union = union.union(isl.UnionMap.from_map(isl.Map.identity(s.domain.get_space().map_from_set())))
    schedule = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(union))
    made = replace(scop, statements=statements, schedule=schedule)
    return CutScop(scop=made, before={name: (name, back)}), (outer, inner)


def without_last(scop: Scop, name: str, loop: str, *, end: int | str) -> tuple[CutScop, str]:
    """The Scop whose statement keeps the iterations of a loop below `end`, and the name of the statement of the others.

    Both run where the one ran: no order changes; `end` may be an affine function of the parameters.

    Source: Griebl, Feautrier, Lengauer, "Index set splitting", 2000.
    """
    statement = scop.statement(name)
    at, rest = statement.iterators.index(loop), fresh_name(f"{name}_rest", {s.name for s in scop.statements})
    space = statement.domain.get_space()
    dims = [f"d{place}" for place in range(statement.depth)]
    below = isl.Set.read_from_str(scop.context.get_ctx(), f"[{', '.join(p.name for p in scop.parameters)}] -> "
                                                          f"{{ {name}[{', '.join(dims)}] : {dims[at]} < {end} }}")
    kept = _narrowed(statement, statement.domain.intersect(below))
    fresh = {a.reference: f"{rest}_{a.reference}" for a in statement.accesses}
    others = renamed_statement(_narrowed(statement, statement.domain.subtract(below)), rest, fresh)
    same = isl.Map.identity(others.domain.get_space().map_from_set()).set_tuple_name(isl.dim_type.out, name)
    back = isl.UnionMap.from_map(same)
    for s in scop.statements:
        back = back.union(isl.UnionMap.from_map(isl.Map.identity(s.domain.get_space().map_from_set())))
    domains = union_set([kept.domain, others.domain, *(s.domain for s in scop.statements if s.name != name)])
    schedule = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(back))
    statements = tuple(part for s in scop.statements for part in ((kept, others) if s.name == name else (s,)))
    made = replace(scop, statements=statements, schedule=_one_after_the_other(
        schedule.intersect_domain(domains), (kept, others), at))
    own = isl.Map.identity(space.map_from_set())
    return CutScop(scop=made, references={rest: fresh}, before={
        name: (name, own.intersect_domain(kept.domain)), rest: (name, same.intersect_domain(others.domain))}), rest


def _one_after_the_other(schedule: isl.Schedule, parts: tuple[Statement, Statement], at: int) -> isl.Schedule:
    """The same order, with a loop of its own for each part where the loop that was cut had no other statement."""
    tree = from_isl(schedule)
    root = split_bands(tree.root)
    loop = union_map(isl.Map.identity(p.domain.get_space().map_from_set()).intersect_domain(p.domain).project_out(
        isl.dim_type.out, at + 1, p.depth - at - 1).project_out(isl.dim_type.out, 0, at).reset_tuple_id(
            isl.dim_type.out) for p in parts)
    for node in walk(root):
        if isinstance(node, Band) and isl.UnionMap.from_union_pw_aff(node.members[0]).intersect_domain(
                tree.domain).is_equal(loop):
            branches = tuple((isl.UnionSet.from_set(p.domain), node) for p in parts)
            return to_isl(replace(tree, root=replace_node(root, node, Sequence(branches=branches))))
    return schedule


def _narrowed(statement: Statement, domain: isl.Set) -> Statement:
    return replace(statement, domain=domain, accesses=tuple(
        replace(a, relation=a.relation.intersect_domain(domain)) for a in statement.accesses))


def _split_statement(statement: Statement, back: isl.Map, new: tuple[str, ...], loop: str, halves: tuple[str, str],
                     size: int, first: int) -> Statement:
    def change(e: Expr) -> Expr:
        if not isinstance(e, IteratorRef) or e.name != loop:
            return e
        scaled = Binary("*", IteratorRef(halves[0], e.dtype), Literal(str(size), size, e.dtype), e.dtype)
        shifted = Binary("+", scaled, IteratorRef(halves[1], e.dtype), e.dtype)
        return Binary("+", shifted, Literal(str(first), first, e.dtype), e.dtype) if first else shifted

    domain = named_set(back.intersect_range(statement.domain).domain(), new)
    accesses = tuple(replace(a, relation=back.apply_range(a.relation).intersect_domain(domain),
                             subscripts=tuple(rebuild(x, change) for x in a.subscripts)) for a in statement.accesses)
    body = tuple(replace(b, value=rebuild(b.value, change)) if isinstance(b, Assign) else b for b in statement.body)
    return replace(statement, domain=domain, accesses=accesses, body=body)
