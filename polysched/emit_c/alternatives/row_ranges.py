"""The subscripts along the rows of a sparse matrix, found by a loop over the rows ahead of a region.

    for (i = 0; i < n; i++) if (p[i] < p[i + 1]) take in p[i] and p[i + 1] - 1          v[k], k in p[i] .. p[i + 1] - 1
    for (k = first; k < end; k++) take in c[k]                                          x[c[k]]

Where rows lie in order, all their elements are one piece, which compilers go through in vectors.
"""

from __future__ import annotations

from collections.abc import Set
from functools import reduce

import islpy as isl

from polysched.emit_c.alternatives.row_loops import point_loops
from polysched.emit_c.scalar_code.statements import INDENT, branches
from polysched.scop.body import Expr, Load
from polysched.scop.construction.data_rows import Row
from polysched.scop.scop import Scop, Statement
from polysched.scop.serialise import expression_text

LARGEST = "0x7fffffffffffffffL"


def taken_in(low: str, high: str, first: str, last: str) -> list[str]:
    """The lines that widen a range."""
    return [f"{low} = {first} < {low} ? {first} : {low};", f"{high} = {last} > {high} ? {last} : {high};"]


def row_range(scop: Scop, row: Row, subscript: Expr, stem: str) -> list[str]:
    """The lines that take in a subscript at every element of every row.

    Parameters
    ----------
    stem : the beginning of the names of the variables; the range is `{stem}_low` to `{stem}_high`.
    """
    low, high, at, begin, behind = (f"{stem}_{word}" for word in ("low", "high", "at", "begin", "behind"))
    ends = [f"const long {begin} = {expression_text(scop, row.setter, Load(row.low, row.low_type))}, "
            f"{behind} = {expression_text(scop, row.statement, Load(row.high, row.low_type))};"]
    used = _iterators_of_ends(row)
    if row.is_counter(subscript):
        points, names = iterations(scop, row.statement, used)
        return point_loops(scop, points, names, [
            *ends, f"if ({begin} < {behind}) {{", *(INDENT + line for line in taken_in(
                low, high, begin, f"{behind} - 1")), "}"])
    counter = scop.array(row.counter).c_element
    here = [f"const long {at} = {expression_text(scop, row.statement, subscript)};", *taken_in(low, high, at, at)]

    def along(first: str, end: str) -> list[str]:
        return [f"for (long {counter} = {first}; {counter} < {end}; {counter}++) {{",
                *(INDENT + line for line in here), "}"]

    inside = row.statement.iterators_in(subscript)
    points, names = iterations(scop, row.statement, used | inside)
    each = point_loops(scop, points, names, [*ends, *along(begin, behind)])
    if inside or not _follow_one_another(row):
        return each
    ordered, first, end = (f"{stem}_{word}" for word in ("ordered", "first", "end"))
    together = point_loops(scop, points, names, [
        *ends, f"{ordered} &= {begin} <= {behind};", *taken_in(first, end, begin, behind)])
    pragma = f"#pragma omp simd reduction(min : {low}) reduction(max : {high})"
    return ["{", *(INDENT + line for line in (
        f"_Bool {ordered} = 1;", f"long {first} = {LARGEST}, {end} = -{LARGEST};", *together, *branches(
            ordered, (INDENT + line for line in (pragma, *along(first, end))), (INDENT + line for line in each)))), "}"]


def _iterators_of_ends(row: Row) -> frozenset[str]:
    ends = (*row.start.subscripts, *row.statement.access(row.high).subscripts)
    return frozenset(name for subscript in ends for name in row.statement.iterators_in(subscript))


def _follow_one_another(row: Row) -> bool:
    """Whether each row that is gone along begins where another one ends, but for the first."""
    begins = row.start.relation.range()
    return bool(begins.is_equal(isl.Set.from_basic_set(begins.remove_divs().convex_hull())))


def iterations(scop: Scop, statement: Statement, used: Set[str]) -> tuple[isl.Set, list[str]]:
    """The values of some iterators of a statement, and their names."""
    dropped = [d for d, name in enumerate(statement.iterators) if name not in used]
    points = statement.domain.intersect_params(scop.context)
    points = reduce(lambda left, d: left.project_out(isl.dim_type.set, d, 1), reversed(dropped), points)
    return points, [name for name in statement.iterators if name in used]
