"""Statements of a program that an instruction with several results computes together, as one statement.

Rewrite:  for i: L[i] = min(A[i], B[i]);  for i: H[i] = max(A[i], B[i]);  ->  for i: { L[i] = ...; H[i] = ...; }

The statements have the same iterations; a local that only they use comes along.  Their instances move to where those of
one of them run.  That is legal where every two conflicting accesses, one of them a write, keep their order: all
memory-based dependences are asked, so nothing is taken for granted of values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Protocol

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependence, Dependences
from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Assign, Expr, IteratorRef, rebuild
from polysched.scop.points import SetOrMap, fix_parameters
from polysched.scop.scop import Scop, Statement, union_set
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.software.conflicts import conflicts
from polysched.tensorize.software.fragment import Fragment, sample_sizes
from polysched.tensorize.software.renaming import fresh_name, named_set, renamed_statement
from polysched.tensorize.software.several import fragment_of_several

MOST_GROUPS = LIMITS.most_groups


class Fixing(Protocol):
    """Sets and maps at some sizes."""

    def __call__(self, relation: SetOrMap, /) -> SetOrMap: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Together:
    """Statements as one, in a program that is otherwise the same.

    Parameters
    ----------
    statements : their names in the program.
    dependences : of the new program, memory-based, without those on locals of the group.
    """

    statements: tuple[str, ...]
    fragment: Fragment
    dependences: Dependences


def groups_of_statements(scop: Scop, intrinsic: Intrinsic, *, sizes: Mapping[str, int],
                         kept: int) -> Iterator[Together | str]:
    """Every group that writes as many elements as the instruction, in every order of its results; or why one is none.

    Parameters
    ----------
    kept : so many outer loops stay outside in any case.

    Raises
    ------
    BudgetExceededError : there are too many groups.
    """
    values = sample_sizes(scop, sizes)
    wanted = sorted(r.output_dtype.bits for r in intrinsic.contraction.results)
    for statement in scop.statements:
        if (fragment := fragment_of_several(scop, statement, values)) is not None:
            yield from _ordered(fragment.inside(kept), (statement.name,), wanted, conflicts(scop))
    found = _groups(scop, tuple(values.items()))
    for number, names in enumerate(found.alike(len(wanted), wanted)):
        if number >= MOST_GROUPS:
            raise BudgetExceededError(f"{scop.name} has more than {MOST_GROUPS} groups of {len(wanted)} statements "
                                      "with the same loops", hint="leave fewer statements in the region")
        made = found.merged(names)
        if isinstance(made, str):
            yield made
        else:
            yield from _ordered(made.fragment.inside(kept), made.statements, wanted, made.dependences)


def _ordered(fragment: Fragment, names: tuple[str, ...], wanted: list[int],
             dependences: Dependences) -> Iterator[Together]:
    """The results in every order that the widths allow."""
    if sorted(r.update.dtype.bits for r in fragment.results) == wanted:
        known = _without_own(fragment, dependences)
        for order in itertools.permutations(fragment.results):
            yield Together(statements=names, fragment=fragment.of_results(order), dependences=known)


def _without_own(fragment: Fragment, dependences: Dependences) -> Dependences:
    """The dependences without those on temporaries that live inside of one instance."""
    own = {a.name for a in fragment.scop.arrays if a.is_temporary} & {
        a.array for a in fragment.statement.accesses} - {
        fragment.statement.access(r.target).array for r in fragment.results}
    return replace(dependences, pairs=tuple(p for p in dependences.pairs if p.array not in own))


def dependences_of(fragment: Fragment, given: Dependences) -> Dependences:
    """Those of the program that a fragment is of: the given one, or one in which statements were cut or became one.

    The latter are memory-based.
    """
    if fragment.scop is given.scop:
        return given
    return _without_own(fragment, conflicts(fragment.scop)) if fragment.others else analyse(fragment.scop)


def are_one_at_all_sizes(scop: Scop, fragment: Fragment, fix: Fixing) -> bool:
    """Whether the statements of a program that became one have the same iterations and keep their order at all sizes.

    Parameters
    ----------
    fix : sets and maps over the sizes that are not known, at those that are allowed.
    """
    left = {s.name for s in fragment.scop.statements}
    members = [s for s in scop.statements if s.name not in left]
    if not members:
        return fragment.scop is scop
    found = _Groups(scop, {}, fix)
    return all(found.same_loops(members[0], s) for s in members[1:]) and not found.lost(
        fragment.scop, members, fragment.statement)


@lru_cache(maxsize=4)
def _groups(scop: Scop, sizes: tuple[tuple[str, int], ...]) -> _Groups:
    values = dict(sizes)

    def fix(relation: SetOrMap) -> SetOrMap:
        return fix_parameters(relation, values)

    return _Groups(scop, values, fix)


class _Groups:
    """The statements of one program at its sizes, and what ties them."""

    def __init__(self, scop: Scop, sizes: Mapping[str, int], fix: Fixing) -> None:
        self.scop, self.sizes, self.fix = scop, sizes, fix
        self.single = [s for s in scop.statements if len(s.body) == 1 and isinstance(s.body[0], Assign)]
        self.domains = {s.name: fix(s.domain).set_tuple_name("S") for s in self.single}
        self.known: dict[tuple[str, ...], Together | str] = {}

    @cached_property
    def pairs(self) -> tuple[Dependence, ...]:
        """All that conflicts."""
        return conflicts(self.scop).pairs

    def alike(self, count: int, wanted: list[int]) -> Iterator[tuple[str, ...]]:
        """Sets of statements with the same iterations that write elements of these widths."""
        shown = [s for s in self.single if not self._is_local(s)]
        for chosen in itertools.combinations(shown, count):
            bits = sorted(b.dtype.bits for s in chosen for b in s.body if isinstance(b, Assign))
            if bits == wanted and all(self.same_loops(chosen[0], s) for s in chosen[1:]):
                yield tuple(s.name for s in chosen)

    def same_loops(self, a: Statement, b: Statement) -> bool:
        """Whether two statements have the same iterations, and any."""
        return a.depth == b.depth and not self.domains[a.name].is_empty() and bool(
            self.domains[a.name].is_equal(self.domains[b.name]))

    def _is_local(self, s: Statement) -> bool:
        """Whether a statement only computes a temporary that is read elsewhere."""
        return all(self.scop.array(a.array).is_temporary for a in s.writes)

    def with_locals(self, names: Sequence[str]) -> list[Statement]:
        """The statements with those that compute temporaries for them alone, in textual order."""
        mine = set(names)
        while True:
            readers: dict[str, set[str]] = {}
            for s in self.scop.statements:
                for a in s.reads:
                    readers.setdefault(a.array, set()).add(s.name)
            one = self.scop.statement(names[0])
            more = {s.name for s in self.single if s.name not in mine and self._is_local(s)
                    and self.same_loops(one, s) and all(readers.get(a.array, set()) <= mine for a in s.writes)
                    and any(readers.get(a.array) for a in s.writes)}
            if not more:
                return [s for s in self.scop.statements if s.name in mine]
            mine |= more

    def merged(self, names: tuple[str, ...]) -> Together | str:
        """The group as one statement, or why it cannot be; asked for by every instruction."""
        if names not in self.known:
            self.known[names] = self._merged(names)
        return self.known[names]

    def _merged(self, names: tuple[str, ...]) -> Together | str:
        members = self.with_locals(names)
        words = " and ".join(s.name for s in members)
        name = fresh_name("_".join(s.name for s in members), {s.name for s in self.scop.statements})
        one = _one_statement(members, name)
        for anchor in dict.fromkeys((members[-1].name, members[0].name)):
            scop = _moved(self.scop, members, one, anchor)
            if not self.lost(scop, members, one):
                fragment = fragment_of_several(scop, one, self.sizes)
                if fragment is None or len(fragment.results) != len(names):
                    return f"{words} do not write {len(names)} elements in one pattern"
                return Together(statements=tuple(s.name for s in members), fragment=fragment,
                                dependences=conflicts(scop))
        return f"{words} cannot run one iteration after the other: conflicting accesses would change their order"

    def lost(self, scop: Scop, members: Sequence[Statement], one: Statement) -> bool:
        """Whether two accesses that conflict would change their order."""
        maps = scop.schedule.get_map().get_map_list()
        times = {m.get_tuple_name(isl.dim_type.in_): m for m in map(maps.get_at, range(maps.n_map()))}
        order = [s.name for s in members]
        for pair in self.pairs:
            if not {pair.source, pair.sink} & {*order}:
                continue
            ends = [one.name if n in order else n for n in (pair.source, pair.sink)]
            relation = self.fix(pair.relation)
            relation = relation.set_tuple_name(isl.dim_type.in_, ends[0]).set_tuple_name(isl.dim_type.out, ends[1])
            if ends[0] == ends[1] and order.index(pair.source) < order.index(pair.sink):
                relation = relation.subtract(isl.Map.identity(relation.get_space()))   # the body runs in their order
            source, sink = (self.fix(times[n]) for n in ends)
            if not relation.is_subset(source.lex_lt_map(sink)):
                return True
        return False


def _one_statement(members: Sequence[Statement], name: str) -> Statement:
    """All bodies, one behind the other, over the iterators of the first."""
    first = members[0]
    made = []
    for number, member in enumerate(members):
        fresh = {a.reference: f"{name}_{number}_{a.reference}" for a in member.accesses}
        made.append(_over_iterators(renamed_statement(member, name, fresh), member.iterators, first.iterators))
    return replace(made[0], body=tuple(b for s in made for b in s.body),
                   accesses=tuple(a for s in made for a in s.accesses))


def _over_iterators(statement: Statement, mine: Sequence[str], theirs: Sequence[str]) -> Statement:
    """The statement with other names for its iterators."""
    names = dict(zip(mine, theirs, strict=True))

    def renamed(e: Expr) -> Expr:
        return IteratorRef(names[e.name], e.dtype) if isinstance(e, IteratorRef) else e

    body = tuple(replace(b, value=rebuild(b.value, renamed)) if isinstance(b, Assign) else b for b in statement.body)
    accesses = tuple(replace(a, subscripts=tuple(rebuild(x, renamed) for x in a.subscripts))
                     for a in statement.accesses)
    return replace(statement, body=body, accesses=accesses, domain=named_set(statement.domain, theirs))


def _moved(scop: Scop, members: Sequence[Statement], one: Statement, anchor: str) -> Scop:
    """The program with the group where one of its members stood."""
    gone = {s.name for s in members}
    statements = tuple(one if s.name == anchor else s for s in scop.statements
                       if s.name == anchor or s.name not in gone)
    back = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for s in statements:
        same = isl.Map.identity(s.domain.get_space().map_from_set())
        back = back.union(isl.UnionMap.from_map(
            same.set_tuple_name(isl.dim_type.out, anchor) if s is one else same))
    schedule = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(back))
    used = {a.array for s in statements for a in s.accesses}
    return replace(scop, statements=statements, schedule=schedule.intersect_domain(union_set(
        s.domain for s in statements)), arrays=tuple(a for a in scop.arrays if a.name in used))
