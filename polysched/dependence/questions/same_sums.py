"""Whether a program that sums up in parts computes the same, up to the order of the updates.

A statement S updates x in the iterations of some loops.  In the changed program they are dealt out to parts: each part
starts from a neutral value, S updates the part, and all parts are added to x.  All instances of S in one iteration of
the loops outside are a *group*; so are all additions to x there.  The results are the same up to the order if

- the instances of S are the same, each in one part;
- the values of a part are one chain, from its start through all its updates to its addition: the flow on the parts
  leads from each value to one use, to each use from one value, and never from one part to another;
- in both programs the updates of x within a group are one chain, of whose values others see the last only;
- with groups in place of instances, x has the same flow and the same last writers in both programs;
- every other read has the same source as before, and every other array the same last writers.

Nothing here knows how the parts were chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.same_values import last_writers
from polysched.errors import IllegalScheduleError
from polysched.records import dataclass
from polysched.scop.scop import Scop, Statement, union_map, union_set

_SET = isl.dim_type.set


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What stands for what in the changed program.

    Parameters
    ----------
    statement, start, total : names of S, of what starts a part, and of what adds a part to `array`.
    array, parts : the array that S updates, and that of the parts.
    group : positions of the iterators of S before that say which group an instance belongs to; `start` and `total`
        have these iterators and the number of the part behind them.
    part : position of the part's number among the iterators of S.
    back : `{ S[new] -> S[old] }`.
    """

    statement: str
    start: str
    total: str
    array: str
    parts: str
    group: tuple[int, ...]
    part: int
    back: isl.Map


def check_same_sums(before: Dependences, after: Dependences, how: Parts) -> None:
    """Compare the value-based flow of two programs.

    Raises
    ------
    IllegalScheduleError : something else would be computed; the witness is a pair of instances, or one.
    """
    if not (before.value_based and after.value_based):
        raise IllegalScheduleError("memory-based dependences do not tell which updates make up a sum",
                                   where=before.scop.name, hint="steps that change the program need value-based ones")
    back = how.back.intersect_domain(after.scop.statement(how.statement).domain)
    old = before.scop.statement(how.statement).domain
    if not (back.is_bijective() and back.range().is_equal(old)):
        raise IllegalScheduleError(f"the parts do not have each instance of {how.statement} once",
                                   witness=str(old.subtract(back.range())), where=before.scop.name)
    _check_parts(after, how)
    groups = [_Groups.of(before.scop, how, (how.statement,)), _Groups.of(after.scop, how, (how.total,))]
    for dependences, group in zip((before, after), groups, strict=True):
        group.check_chains(_flow(dependences, how.array))
    renamed = _identity(after.scop, {how.statement: back})
    for reference in _readers(before, how):
        pairs = [_sources(dependences, reference) for dependences in (before, after)]
        if _array_of(before, reference) == how.array:
            pairs = [group.of_pairs(p) for group, p in zip(groups, pairs, strict=True)]
        else:
            pairs[1] = pairs[1].apply_domain(renamed).apply_range(renamed)
        _require_equal(pairs, f"{reference} would read another value")
    sums = [group.of_pairs(_updates(d, how)) for d, group in zip((before, after), groups, strict=True)]
    _require_equal(sums, f"{how.statement} would add to another value of {how.array!r}")
    _check_last_writers(before.scop, after.scop, how, groups, renamed)


def _check_parts(after: Dependences, how: Parts) -> None:
    """Whether the values of each part are one chain."""
    scop, flow = after.scop, _flow(after, how.parts)
    update, start, total = (scop.statement(name) for name in (how.statement, how.start, how.total))
    written, read = union_set((start.domain, update.domain)), union_set((update.domain, total.domain))
    fixed = scop.context
    chain = (flow.is_bijective() and flow.domain().is_equal(written.intersect_params(fixed))
             and flow.range().is_equal(read.intersect_params(fixed)))
    number = union_map([*(_to_group(s, range(s.depth)) for s in (start, total)),
                        _to_group(update, (*_moved(how), how.part))])
    if not chain or not flow.is_subset(number.apply_range(number.reverse())):
        raise IllegalScheduleError(f"the values of a part of {how.array!r} are no chain", witness=str(flow)[:300],
                                   where=scop.name)


def _moved(how: Parts) -> Iterable[int]:
    """The positions of a group's iterators in the changed statement, which has more behind the split one."""
    more = how.back.dim(isl.dim_type.in_) - how.back.dim(isl.dim_type.out)
    return (p if p < how.part else p + more for p in how.group)


@dataclass(frozen=True, eq=False)
class _Groups:
    """The updates of x in one of the programs, and each instance in place of which a group is looked at."""

    updates: isl.UnionSet
    group: isl.UnionMap
    others: isl.UnionMap

    @classmethod
    def of(cls, scop: Scop, how: Parts, names: tuple[str, ...]) -> _Groups:
        own = [scop.statement(name) for name in names]
        width = len(how.group)
        to_group = union_map(_to_group(s, how.group if s.name == how.statement else range(width)) for s in own)
        rest = union_map(isl.Map.identity(s.domain.get_space().map_from_set()).intersect_domain(s.domain)
                         for s in scop.statements if s.name not in (how.statement, how.start, how.total))
        return cls(union_set(s.domain for s in own).intersect_params(scop.context), to_group, rest)

    def inside(self, flow: isl.UnionMap) -> isl.UnionMap:
        """The flow between two updates of one group."""
        return flow.intersect(self.group.apply_range(self.group.reverse()))

    def of_pairs(self, pairs: isl.UnionMap) -> isl.UnionMap:
        """Pairs of different groups, or of a group and another statement's instance, with groups for instances."""
        names = self.group.union(self.others)
        return pairs.subtract(self.inside(pairs)).apply_domain(names).apply_range(names)

    def check_chains(self, flow: isl.UnionMap) -> None:
        """Whether the updates of each group are one chain, of whose values others see the last only."""
        inside = self.inside(flow)
        first, last = self.updates.subtract(inside.range()), self.updates.subtract(inside.domain())
        seen = flow.subtract(inside).intersect_domain(self.updates).domain()
        entered = flow.subtract(inside).intersect_range(self.updates).range()
        single = all(self.group.intersect_domain(ends).is_injective() for ends in (first, last))
        if not (inside.is_bijective() and single and seen.is_subset(last) and entered.is_subset(first)):
            between = seen.subtract(last).union(entered.subtract(first))
            raise IllegalScheduleError("a value between two updates of the sum is used, or replaced",
                                       witness=str(between)[:300],
                                       hint="split a loop of which only the result is read behind it")


def _to_group(statement: Statement, positions: Iterable[int]) -> isl.Map:
    """`{ S[i, k] -> group[i] }`."""
    relation = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(statement.domain)
    kept = list(positions)
    for position in reversed(range(statement.depth)):
        if position not in kept:
            relation = relation.project_out(isl.dim_type.out, position, 1)
    return relation.set_tuple_name(isl.dim_type.out, "group")


def _identity(scop: Scop, changed: dict[str, isl.Map]) -> isl.UnionMap:
    return union_map(changed.get(s.name) or isl.Map.identity(
        s.domain.get_space().map_from_set()).intersect_domain(s.domain) for s in scop.statements)


def _flow(dependences: Dependences, array: str) -> isl.UnionMap:
    return union_map(p.relation for p in dependences.pairs if p.kind is DependenceKind.FLOW and p.array == array)


def _sources(dependences: Dependences, reference: str) -> isl.UnionMap:
    return union_map(p.relation for p in dependences.pairs
                     if p.kind is DependenceKind.FLOW and p.sink_reference == reference)


def _updates(dependences: Dependences, how: Parts) -> isl.UnionMap:
    """The flow on x to its updates."""
    return union_map(p.relation for p in dependences.pairs if p.kind is DependenceKind.FLOW
                     and p.array == how.array and p.sink in (how.statement, how.total))


def _readers(before: Dependences, how: Parts) -> Iterable[str]:
    """The references of all reads but those of x by its updates."""
    return (a.reference for s in before.scop.statements for a in s.reads
            if s.name != how.statement or a.array != how.array)


def _array_of(before: Dependences, reference: str) -> str:
    """The array of a reference."""
    return next(a.array for s in before.scop.statements for a in s.accesses if a.reference == reference)


def _check_last_writers(before: Scop, after: Scop, how: Parts, groups: list[_Groups], renamed: isl.UnionMap) -> None:
    for array in after.arrays:
        if array.is_temporary:
            continue
        old, new = last_writers(before, array.name), last_writers(after, array.name)
        if array.name == how.array:
            old, new = (w.apply_range(g.group.union(g.others)) for w, g in zip((old, new), groups, strict=True))
        else:
            new = new.apply_range(renamed)
        _require_equal((old, new), f"{array.name!r} would have another value after the region")


def _require_equal(pair: Sequence[isl.UnionMap], problem: str) -> None:
    old, new = pair
    if not old.is_equal(new):
        raise IllegalScheduleError(problem, witness=str(old.subtract(new).union(new.subtract(old)))[:300])
