"""Sums that a program keeps in several variables and adds up at the end, in one of them.

Rewrite:  s = 0; t = 0;  for k: { s += a[2k] * b[2k];  t += a[2k + 1] * b[2k + 1]; }  c = s + t
    ->    s = 0;         for k: { s += a[2k] * b[2k];  s += a[2k + 1] * b[2k + 1]; }  c = s

Integers, which wrap on the way as unsigned ones do: their additions may change places; floats where that is allowed.
Both variables are cleared and added up once in every iteration of the loops that they share, and everything that is
added to one of them is added between these two, which isl checks on the order; nobody else reads them.
Source: the inverse of accumulator expansion (Allen, Kennedy, "Optimizing Compilers for Modern Architectures", 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.if_conversion import assigned_value
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Expr, Literal, Load, rebuild, walk
from polysched.scop.scop import AccessKind, Array, Scop, Statement, union_set
from polysched.tensorize.preparing.restating import with_body, wrapping_sum
from polysched.tensorize.proofs.body_proofs import adds_to, below_signs, summands
from polysched.tensorize.software.clamps import plain
from polysched.tensorize.software.fragment import one_name_per_element

LEAST_BITS = 32   # narrower sums are promoted, and cut where they are stored


def without_partial_sums(dependences: Dependences, *, reorder: bool = False) -> Dependences | None:
    """The program with one partial sum less; None where there is none.

    Parameters
    ----------
    reorder : floats may be added in another order.
    """
    scop = dependences.scop
    sums = [found for a in scop.arrays
            if a.dtype.is_float <= reorder and (found := _partial_sum(scop, a)) is not None]
    for one in sums:
        for other in sums:
            if one is not other and one.end is other.end and one.array.dtype == other.array.dtype \
                    and _together(scop, one, other):
                made = _in_one(scop, one, other)
                return analyse(made, value_based=dependences.value_based, inputs=dependences.inputs)
    return None


@dataclass(frozen=True, eq=False, kw_only=True)
class _PartialSum:
    """A variable that is set, added to, and read once more.

    Parameters
    ----------
    start : the statement that sets it.
    updates : those that add to it.
    end : the statement that reads the sum.
    cleared : it starts at zero.
    """

    array: Array
    start: Statement
    updates: tuple[Statement, ...]
    end: Statement
    cleared: bool


def _partial_sum(scop: Scop, array: Array) -> _PartialSum | None:
    """What a variable of the region is, if it is the sum of something."""
    users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
    if not _may_hold_sum(array) or len(users) < 3 or not all(_assignment(s) for s in users):
        return None
    roles = _roles(users, array)
    if roles is None:
        return None
    start, updates, end = roles
    value = plain(_item(start).value)
    return _PartialSum(array=array, start=start, updates=updates, end=end,
                       cleared=isinstance(value, Literal) and value.value == 0)


def _roles(users: Sequence[Statement], array: Array) -> tuple[Statement, tuple[Statement, ...], Statement] | None:
    """The statement that sets a variable, those that add to it, and that which reads the sum; None of other uses."""
    writers = [s for s in users if s.access(_item(s).target).array == array.name]
    starts = [s for s in writers if not _reads(s, array)]
    updates = tuple(s for s in writers if s not in starts)
    ends = [s for s in users if s not in writers]
    if len(starts) != 1 or len(ends) != 1 or not updates or not all(map(_adds, updates)):
        return None
    return (starts[0], updates, ends[0]) if starts[0].depth == ends[0].depth else None


def _may_hold_sum(array: Array) -> bool:
    """Whether it is a variable of the region that additions are not cut to."""
    wide = array.dtype.is_float or (array.dtype.is_integer and array.dtype.bits >= LEAST_BITS)
    return array.is_scalar and array.is_temporary and wide


def _assignment(statement: Statement) -> bool:
    return len(statement.body) == 1 and isinstance(statement.body[0], Assign) and all(
        a.exact and a.kind is not AccessKind.MAY_WRITE for a in statement.accesses)


def _item(statement: Statement) -> Assign:
    item = statement.body[0]
    assert isinstance(item, Assign)
    return item


def _reads(statement: Statement, array: Array) -> bool:
    return any(a.array == array.name for a in statement.reads)


def _update(statement: Statement) -> tuple[Expr, Load]:
    """The new value of an element, and the old one in it."""
    item = _item(statement)
    old = Load(item.target, item.dtype)
    value = assigned_value(item, old if item.read is None else Load(item.read, item.dtype))
    return one_name_per_element(value, statement, statement.access(item.target)), old


def _adds(statement: Statement) -> bool:
    """A statement adds something else to its element, and subtracts nothing."""
    value, old = _update(statement)
    return adds_to(value, old) and all(op == "+" for op, _ in summands(value, old.dtype))


def _together(scop: Scop, one: _PartialSum, other: _PartialSum) -> bool:
    """The second sum may be added to the first one instead."""
    return other.cleared and one.start.depth == other.start.depth and _added_up(one, other) \
        and not any(_reads(s, other.array) for s in (one.start, *one.updates)) \
        and not any(_reads(s, one.array) for s in (other.start, *other.updates)) \
        and _in_between(scop, one, (*one.updates, *other.updates)) and _in_between(scop, other, other.updates)


def _added_up(one: _PartialSum, other: _PartialSum) -> bool:
    """The end reads both, each once, and adds them."""
    statement = one.end
    item = _item(statement)
    mine = {a.reference: a.array for a in statement.accesses if a.array in (one.array.name, other.array.name)}
    loads = [e for e in walk(item.value) if isinstance(e, Load) and e.reference in mine]
    if sorted(mine[e.reference] for e in loads) != sorted((one.array.name, other.array.name)) or len(mine) != 2:
        return False
    return any(_has_both(e, set(mine), one.array) for e in walk(item.value))


def _has_both(e: Expr, names: set[str], array: Array) -> bool:
    """A sum in the width of the variables, of which both are terms."""
    if not isinstance(e, Binary) or e.op not in ("+", "-") or e.dtype.bits != array.dtype.bits:
        return False
    terms = [op for op, x in summands(e, array.dtype)
             if isinstance(y := below_signs(plain(x)), Load) and y.reference in names]
    return terms == ["+", "+"]


def _in_between(scop: Scop, total: _PartialSum, updates: tuple[Statement, ...]) -> bool:
    """In every iteration of the loops around, and only there, the updates run between the start and the end.

    The instances of an update belong to the iteration that its outer iterators name.
    """
    depth, order = total.start.depth, scop.schedule.get_map()
    if not total.start.domain.set_tuple_name("").is_equal(total.end.domain.set_tuple_name("")):
        return False
    earlier = order.lex_lt_union_map(order)
    start, end = isl.UnionSet.from_set(total.start.domain), isl.UnionSet.from_set(total.end.domain)
    twin = _same(total.start, total.end, depth)
    if not twin.is_subset(earlier):
        return False
    for update in updates:
        if update.depth < depth:
            return False
        mine = isl.UnionSet.from_set(update.domain)
        owner = _same(total.start, update, depth)
        if not mine.is_subset(owner.range()) or not owner.is_subset(earlier) \
                or not _same(update, total.end, depth).is_subset(earlier):
            return False
        after_start = earlier.intersect_domain(start).intersect_range(mine)
        before_end = earlier.intersect_domain(mine).intersect_range(end).apply_range(twin.reverse()).reverse()
        if not after_start.intersect(before_end).is_equal(owner):   # in the time of another iteration
            return False
    return True


def _same(first: Statement, second: Statement, depth: int) -> isl.UnionMap:
    """Instances of two statements in one iteration of their outer loops."""
    relation = isl.Map.from_domain_and_range(first.domain, second.domain)
    for at in range(depth):
        relation = relation.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
    return isl.UnionMap.from_map(relation)


def _in_one(scop: Scop, one: _PartialSum, other: _PartialSum) -> Scop:
    """The program whose second variable is gone."""
    changed = {s.name: _onto(s, one.array) for s in (*one.updates, *other.updates)}
    changed[one.end.name] = _without_term(one.end, other.array)
    left = tuple(changed.get(s.name, s) for s in scop.statements if s is not other.start)
    return replace(scop, statements=left, arrays=tuple(a for a in scop.arrays if a is not other.array),
                   schedule=scop.schedule.intersect_domain(union_set(s.domain for s in left)))


def _onto(statement: Statement, array: Array) -> Statement:
    """The statement that adds to a variable, wrapping."""
    item = _item(statement)
    value, old = _update(statement)
    reference = item.read or next(a.reference for a in statement.reads
                                  if a.array == statement.access(item.target).array)
    total: Expr = Load(reference, item.dtype)
    for _, x in summands(value, item.dtype):
        total = total if below_signs(plain(x)) == old else wrapping_sum(total, x)
    made = with_body(statement, Assign(item.target, total, item.dtype))
    before = statement.access(item.target).array
    return replace(made, accesses=tuple(replace(
        a, array=array.name, relation=a.relation.set_tuple_name(isl.dim_type.out, array.name))
        if a.array == before else a for a in made.accesses))


def _without_term(statement: Statement, array: Array) -> Statement:
    """The statement with zero in the place of a variable."""
    gone = {a.reference for a in statement.reads if a.array == array.name}
    item = _item(statement)

    def change(e: Expr) -> Expr:
        if isinstance(e, Load) and e.reference in gone:
            return Literal("0", 0, e.dtype)
        if isinstance(e, Binary) and e.op == "+":
            for side, rest in ((e.left, e.right), (e.right, e.left)):
                if isinstance(side, Literal) and side.value == 0 and rest.dtype == e.dtype:
                    return rest
        return e

    return with_body(statement, replace(item, value=rebuild(item.value, change)))
