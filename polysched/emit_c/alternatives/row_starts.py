"""Whether rows that an array of row starts delimits lie one behind the other, found by a loop ahead of a region."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from polysched.emit_c.alternatives.row_loops import point_loops
from polysched.emit_c.scalar_code.size_text import operand, size_text
from polysched.emit_c.scalar_code.statements import braced
from polysched.records import dataclass
from polysched.scop.construction.data_rows import leading_values
from polysched.scop.scop import Assumption, Scop

SMALLEST = "-0x7fffffffffffffffL - 1"


@dataclass(frozen=True, kw_only=True)
class RowTest:
    """A condition in C, and the lines that compute what it names."""

    condition: str
    before: tuple[str, ...]


def rows_in_order(scop: Scop, assumption: Assumption, stem: str, *, least_rows: int) -> RowTest:
    """The test that each row ends behind its start, and no later than the next one begins.

        _Bool ok = n >= 16384; long end = LONG_MIN;
        if (ok) for (r = 0; r < n; r++) { ok &= end <= p[r] && p[r] <= p[r + 1]; end = p[r + 1]; }

    Parameters
    ----------
    stem : the beginning of the names of the variables.
    least_rows : with fewer rows, a region of nothing but loops over rows gains nothing, and its original runs.
    """
    accesses = {a.reference: a for s in scop.statements for a in s.accesses}
    starts = [accesses[low] for low in dict.fromkeys(low for _, low in assumption.rows)]
    reached = reduce(isl.Set.union, (a.relation.intersect_params(scop.context).range() for a in starts)).coalesce()
    last = reached.dim(isl.dim_type.set) - 1
    reached = reached.project_out(isl.dim_type.set, 0, last)
    element = scop.array(starts[0].array).c_element
    leading = leading_values(starts[0]) or ()
    row, end, begin, behind = (f"{stem}_{word}" for word in ("row", "end", "begin", "behind"))
    body = [f"const long {begin} = {element.format(*leading, row)}, "
            f"{behind} = {element.format(*leading, f'{row} + 1')};",
            f"{stem} &= {end} <= {begin} && {begin} <= {behind};", f"{end} = {behind};"]
    lines = point_loops(scop, reached, [row], body)
    length = reached.dim_max(0).sub(reached.dim_min(0)).add_constant_val(isl.Val.one(isl.DEFAULT_CONTEXT))
    enough = f"{operand(size_text(scop, length))} >= {least_rows}" if least_rows and _are_all_in_rows(scop) else "1"
    return RowTest(condition=stem, before=(f"_Bool {stem} = {enough};", f"long {end} = {SMALLEST};",
                                           *braced(f"if ({stem})", lines)))


def _are_all_in_rows(scop: Scop) -> bool:
    """Whether every statement goes along a row whose place is tested."""
    inside = {reference for a in scop.assumptions for reference, _ in a.rows}
    return all(inside & {a.reference for a in s.accesses} for s in scop.statements)
