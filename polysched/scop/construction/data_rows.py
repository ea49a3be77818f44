"""Loops of a statement whose counter goes from one element of an array to the next one: rows of a sparse matrix.

    k = p[i];  while (k < p[i + 1]) { s += v[k] * x[c[k]];  k += 1; }

The counter is set by the statement itself, or by the one that runs right before.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, BodyStatement, Expr, Literal, Load, While, assignments, walk
from polysched.scop.dtypes import DType, Kind
from polysched.scop.scop import Access, Scop, Statement


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """A loop over one row.

    Parameters
    ----------
    statement : has the loop.
    counter : the array that the counter is, a scalar.
    first : the reference that sets the counter, and the statement that has it.
    setter : the statement that has `first` and `low`.
    low, high : the references that read where the row begins, and where the next one does.
    loop : the loop; its condition is that the counter has not reached the end.
    step : what is added to the counter.
    """

    statement: Statement
    counter: str
    first: str
    setter: Statement
    low: str
    high: str
    loop: While
    step: int

    @property
    def start(self) -> Access:
        """The access that reads where the row begins."""
        return self.setter.access(self.low)

    @property
    def inner(self) -> tuple[BodyStatement, ...]:
        """What the loop repeats, without the step of the counter."""
        return self.loop.body[:-1]

    @property
    def low_type(self) -> DType:
        """The type of the elements that say where rows begin."""
        return next(e.dtype for a in assignments(self.setter.body) for e in walk(a.value)
                    if isinstance(e, Load) and e.reference == self.low)

    def is_counter(self, value: Expr) -> bool:
        """Whether an expression of the loop is the counter."""
        return isinstance(value, Load) and self.statement.access(value.reference).array == self.counter

    def goes_along(self, access: Access) -> bool:
        """Whether an access of the loop has the counter as its last subscript."""
        return bool(access.subscripts) and self.is_counter(access.subscripts[-1])


def rows_of(scop: Scop, statement: Statement) -> Iterator[Row]:
    """The loops `for (k = p[f]; k < p[f + 1]; k++)` of a statement."""
    for at, loop in enumerate(statement.body):
        if isinstance(loop, While):
            row = _row(scop, statement, at, loop)
            if row is not None:
                yield row


def _row(scop: Scop, statement: Statement, at: int, loop: While) -> Row | None:
    high = _limit(loop.condition)
    if high is None:
        return None
    counter = statement.access(high[0].reference).array
    step = _step(statement, loop, counter)
    if not scop.array(counter).is_scalar or step is None:
        return None
    found = _first_value(scop, statement, at, counter)
    if found is None:
        return None
    setter, first = found
    low = first.value
    if first.op is not None or not isinstance(low, Load) or low.dtype != first.dtype:
        return None
    row = Row(statement=statement, counter=counter, first=first.target, setter=setter, low=low.reference,
              high=high[1].reference, loop=loop, step=step)
    end = statement.access(row.high)
    fits = leading_values(row.start) is not None and _are_starts(scop, row.start, low)
    return row if fits and _are_neighbours(row.start, end) else None


def leading_values(access: Access) -> tuple[int, ...] | None:
    """The subscripts in front of the last one, where each is one number: the 0 of `A[0].val[k]`, for `A->val[k]`."""
    reached = access.relation.range()
    values = [reached.plain_get_val_if_fixed(isl.dim_type.set, k) for k in range(reached.dim(isl.dim_type.set) - 1)]
    return tuple(int(v.to_python()) for v in values) if all(v.is_int() for v in values) else None


def _limit(condition: Expr) -> tuple[Load, Load] | None:
    """k and p[f + 1] of `k < p[f + 1]`, without a conversion."""
    match condition:
        case Binary(op="<", left=Load() as left, right=Load() as right) if left.dtype == right.dtype:
            return left, right
    return None


def _step(statement: Statement, loop: While, counter: str) -> int | None:
    """What the last statement of a loop adds to its counter, if nothing else changes that."""
    if not loop.body or any(statement.access(a.target).array == counter for a in assignments(loop.body[:-1])):
        return None
    match loop.body[-1]:
        case Assign(op="+", value=Literal(value=int() as value), target=target):
            return value if value > 0 and statement.access(target).array == counter else None
    return None


def _first_value(scop: Scop, statement: Statement, at: int, counter: str) -> tuple[Statement, Assign] | None:
    """The assignment that a counter has its value from when a loop begins, and its statement."""
    if at > 0:
        before = statement.body[at - 1]
        is_set = isinstance(before, Assign) and statement.access(before.target).array == counter
        return (statement, before) if is_set and isinstance(before, Assign) else None
    writers = [s for s in scop.statements if any(a.array == counter for a in s.writes)]
    for setter in writers:
        item = _only_assignment(setter, counter) if setter is not statement else None
        if item is not None and _runs_right_before(scop, setter, statement, writers):
            return setter, item
    return None


def _only_assignment(statement: Statement, array: str) -> Assign | None:
    """The assignment to a scalar that is all of a statement."""
    match statement.body:
        case (Assign() as item,) if statement.access(item.target).array == array:
            return item
    return None


def _runs_right_before(scop: Scop, setter: Statement, statement: Statement, writers: list[Statement]) -> bool:
    """Whether the same instance of another statement runs before each instance, and no writer in between."""
    if setter.iterators != statement.iterators or not setter.domain.reset_tuple_id().is_equal(
            statement.domain.reset_tuple_id()):
        return False
    order = scop.schedule.get_map()
    earlier = order.lex_lt_union_map(order)
    same = isl.UnionMap.from_map(isl.Map.identity(setter.domain.get_space().map_from_set()).intersect_domain(
        setter.domain).set_tuple_name(isl.dim_type.out, statement.name))
    between = isl.UnionSet.from_set(writers[0].domain)
    for writer in writers[1:]:
        between = between.union(isl.UnionSet.from_set(writer.domain))
    behind = earlier.intersect_domain(same.domain()).intersect_range(between)
    ahead = earlier.intersect_domain(between).intersect_range(same.range())
    return bool(same.is_subset(earlier) and behind.apply_range(ahead).intersect(same).is_empty())


def _are_neighbours(start: Access, end: Access) -> bool:
    """Whether two exact reads of one array are of an element and the next of the same row behind pointers."""
    if start.array != end.array or not (start.exact and end.exact):
        return False
    same = isl.MultiAff.identity_on_domain_space(start.relation.range().get_space())
    last = start.relation.dim(isl.dim_type.out) - 1
    following = same.set_at(last, same.get_at(last).add_constant_val(isl.Val.one(isl.DEFAULT_CONTEXT)))
    moved = start.relation.apply_range(isl.Map.from_multi_aff(following))
    return bool(moved.reset_tuple_id(isl.dim_type.in_).is_equal(end.relation.reset_tuple_id(isl.dim_type.in_)))


def _are_starts(scop: Scop, start: Access, low: Load) -> bool:
    """Whether row starts fit a `long` and are not written."""
    written = {a.array for s in scop.statements for a in s.writes}
    kind = low.dtype
    return kind.is_integer and (kind.kind is Kind.SIGNED or kind.bits < 64) and start.array not in written
