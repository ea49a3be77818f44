"""The least and the largest value of subscripts that are read from arrays, found by loops ahead of a region."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polysched.emit_c.alternatives.row_loops import point_loops
from polysched.emit_c.alternatives.row_ranges import iterations, row_range, taken_in
from polysched.emit_c.loop_ir.subscripts import names_its_element
from polysched.emit_c.scalar_code.intervals import Interval, has_interval
from polysched.emit_c.scalar_code.size_text import size_text
from polysched.records import dataclass
from polysched.scop.body import Expr, Load, walk
from polysched.scop.construction.data_rows import Row, rows_of
from polysched.scop.construction.index_checks import conditions_at
from polysched.scop.dtypes import part_of
from polysched.scop.scop import Access, Array, Scop, Statement
from polysched.scop.serialise import expression_text

DIM = isl.dim_type
LARGEST = "0x7fffffffffffffffL"


@dataclass(frozen=True, kw_only=True)
class IndexRange:
    """The rows of an array that a region reaches.

    Parameters
    ----------
    low, high : C for the first and the last; the last is less than the first where none is reached.
    before : C lines that compute them.
    """

    low: str
    high: str
    before: tuple[str, ...]


def index_range(scop: Scop, array: Array, stem: str, *, dimension: int = 0) -> IndexRange | None:
    """The subscripts in one dimension that a region uses of an array; None where they cannot be evaluated ahead of it.

    They can where they are read, on no condition, from arrays that the region does not write.  What is a subscript of
    such a read may not be set by the region under another name either: the array is of a type of its own.  A counter
    that goes along a row (`data_rows.Row`) is one, too.

    Parameters
    ----------
    stem : the beginning of the names of the variables.
    """
    low, high = f"{stem}_low", f"{stem}_high"
    parts: dict[tuple[str, ...], None] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != array.name:
                continue
            lines = _lines(scop, statement, access, dimension, stem)
            if lines is None:
                return None
            parts[lines] = None
    return IndexRange(low=low, high=high, before=(
        f"long {low} = {LARGEST}, {high} = -{LARGEST};", *(line for lines in parts for line in lines)))


def _lines(scop: Scop, statement: Statement, access: Access, dimension: int, stem: str) -> tuple[str, ...] | None:
    """The lines that take in the subscripts of one access; None where these cannot be evaluated."""
    low, high, at = (f"{stem}_{word}" for word in ("low", "high", "at"))
    reached = access.relation.intersect_params(scop.context).range()
    if reached.dim_has_lower_bound(DIM.set, dimension) and reached.dim_has_upper_bound(DIM.set, dimension):
        return tuple(_bounds(scop, reached, dimension, low, high))
    if not names_its_element(statement, access):
        return None
    subscript = access.subscripts[dimension]
    row = next((row for row in rows_of(scop, statement) if _goes_along(scop, row, access, subscript)), None)
    if row is not None:
        return tuple(row_range(scop, row, subscript, stem))
    if has_interval(statement, subscript):
        return tuple(_by_interval(scop, statement, subscript, stem))
    if not _can_be_evaluated(scop, statement, subscript, access.reference):
        return None
    points, names = iterations(scop, statement, statement.iterators_in(subscript))
    text = expression_text(scop, statement, subscript)
    return tuple(point_loops(scop, points, names, [f"const long {at} = {text};", *taken_in(low, high, at, at)]))


def _bounds(scop: Scop, reached: isl.Set, dimension: int, low: str, high: str) -> list[str]:
    """The lines that take in the first and the last subscript of a set."""
    if reached.is_empty():
        return []
    first, last = (f"({size_text(scop, value)})" for value in (reached.dim_min(dimension), reached.dim_max(dimension)))
    return point_loops(scop, reached, [], taken_in(low, high, first, last))


def _by_interval(scop: Scop, statement: Statement, subscript: Expr, stem: str) -> list[str]:
    """The lines that take in the range of a subscript of counters and sizes, where the statement runs at all."""
    interval = Interval(scop, statement, stem)
    ends = interval.ends(subscript)
    runs = statement.domain.intersect_params(scop.context).params()
    return point_loops(scop, runs, [], [*interval.lines, *taken_in(f"{stem}_low", f"{stem}_high", *ends)])


def _goes_along(scop: Scop, row: Row, access: Access, subscript: Expr) -> bool:
    """Whether a subscript is the counter of a row, or read at it in every iteration, from what nobody writes."""
    statement = row.statement
    if [] not in conditions_at(statement, row.high):
        return False
    if row.is_counter(subscript):
        return True
    always = any(path in ([], [row.loop.condition]) for path in conditions_at(statement, access.reference))
    plain = row.step == 1 and scop.array(row.counter).c_element.isidentifier() and all(
        row.is_counter(s) or not _uses(row, s)
        for s in (subscript, *(s for a in _all_read_in(statement, subscript) for s in a.subscripts)))
    return always and plain and _is_readable(scop, statement, subscript, but=row.counter)


def _uses(row: Row, subscript: Expr) -> bool:
    """Whether a row's counter is an operand: arithmetic in its own type might wrap around."""
    return any(row.is_counter(part) for part in walk(subscript))


def _can_be_evaluated(scop: Scop, statement: Statement, subscript: Expr, reference: str) -> bool:
    return _is_readable(scop, statement, subscript) and all(
        [] in conditions_at(statement, a.reference) for a in _all_read_in(statement, subscript))


def _is_readable(scop: Scop, statement: Statement, subscript: Expr, *, but: str = "") -> bool:
    """Whether what a subscript reads is what it was ahead of the region, and where that is, too.

    Parameters
    ----------
    but : the counter of a row, whose values are known.
    """
    written = {a.array for s in scop.statements for a in s.accesses if a.is_write} - {but}
    outer = _read_in(statement, subscript)
    inner = [a for read in outer for s in read.subscripts for a in _all_read_in(statement, s) if a.array != but]
    return bool(outer) and all(a.array not in written | {but} for a in outer) and all(
        a.array not in written for a in inner) and not any(
        _may_be_one(scop.array(a.array), scop.array(name)) for a in inner for name in written)


def _read_in(statement: Statement, value: Expr) -> list[Access]:
    return [statement.access(e.reference) for e in walk(value) if isinstance(e, Load)]


def _all_read_in(statement: Statement, value: Expr) -> Iterator[Access]:
    """What an expression reads, for its subscripts, too."""
    for access in _read_in(statement, value):
        yield access
        for subscript in access.subscripts:
            yield from _all_read_in(statement, subscript)


def _may_be_one(left: Array, right: Array) -> bool:
    """Whether C lets two names reach the same elements (C11 6.5, paragraph 7), for all that is promised here."""
    a, b = part_of(left.dtype), part_of(right.dtype)
    return 1 in (a.bytes, b.bytes) or (a.bytes == b.bytes and a.is_float == b.is_float)
