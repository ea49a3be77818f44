"""The least and the largest value of subscripts that are read from arrays, found by loops ahead of a region."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from polysched.emit_c.alternatives.row_loops import point_loops
from polysched.emit_c.scalar_code.size_text import size_text
from polysched.scop.body import Expr, IteratorRef, Load, walk
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


def index_range(scop: Scop, array: Array, stem: str) -> IndexRange | None:
    """The outermost subscripts that a region uses of an array; None where they cannot be evaluated ahead of it.

    They can where they are read, on no condition, from arrays that the region does not write.  What is a subscript of
    such a read may not be set by the region under another name either: the array is of a type of its own.

    Parameters
    ----------
    stem : the beginning of the names of the variables.
    """
    low, high, at = (f"{stem}_{word}" for word in ("low", "high", "at"))
    lines = [f"long {low} = {LARGEST}, {high} = -{LARGEST};"]
    known: set[tuple[str, str]] = set()
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != array.name:
                continue
            reached = access.relation.intersect_params(scop.context).range()
            if reached.dim_has_lower_bound(DIM.set, 0) and reached.dim_has_upper_bound(DIM.set, 0):
                lines += _bounds(scop, reached, low, high)
                continue
            if not _can_be_evaluated(scop, statement, access):
                return None
            points, names = _used_iterators(scop, statement, access)
            text = expression_text(scop, statement, access.subscripts[0])
            if (text, str(points)) in known:
                continue
            known.add((text, str(points)))
            lines += point_loops(scop, points, names, [
                f"const long {at} = {text};", f"{low} = {at} < {low} ? {at} : {low};",
                f"{high} = {at} > {high} ? {at} : {high};"])
    return IndexRange(low=low, high=high, before=tuple(lines))


def _bounds(scop: Scop, reached: isl.Set, low: str, high: str) -> list[str]:
    """The lines that take in the first and the last row of a set."""
    if reached.is_empty():
        return []
    first, last = (f"({size_text(scop, value)})" for value in (reached.dim_min(0), reached.dim_max(0)))
    return point_loops(scop, reached, [], [f"{low} = {first} < {low} ? {first} : {low};",
                                           f"{high} = {last} > {high} ? {last} : {high};"])


def _can_be_evaluated(scop: Scop, statement: Statement, access: Access) -> bool:
    written = {a.array for s in scop.statements for a in s.accesses if a.is_write}
    outer = _read_in(statement, access.subscripts[0])
    inner = [a for read in outer for subscript in read.subscripts for a in _all_read_in(statement, subscript)]
    return bool(outer) and all(a.array not in written and [] in conditions_at(statement, a.reference)
                               for a in (*outer, *inner)) and not any(
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


def _used_iterators(scop: Scop, statement: Statement, access: Access) -> tuple[isl.Set, list[str]]:
    """The values of the iterators that the outermost subscript depends on, and their names."""
    used = set(_iterators(statement, access.subscripts[0]))
    dropped = [d for d, name in enumerate(statement.iterators) if name not in used]
    points = statement.domain.intersect_params(scop.context)
    points = reduce(lambda left, d: left.project_out(DIM.set, d, 1), reversed(dropped), points)
    return points, [name for name in statement.iterators if name in used]


def _iterators(statement: Statement, value: Expr) -> Iterator[str]:
    """The iterators that an expression depends on, through the subscripts of what it reads, too."""
    for part in walk(value):
        if isinstance(part, IteratorRef):
            yield part.name
        elif isinstance(part, Load):
            for subscript in statement.access(part.reference).subscripts:
                yield from _iterators(statement, subscript)
