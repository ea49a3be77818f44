"""The memory that a region touches of an array, as C that finds it at run time: one piece, or rows behind pointers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce
from weakref import WeakKeyDictionary

import islpy as isl

from polysched.emit_c.alternatives.index_ranges import index_range
from polysched.emit_c.alternatives.row_loops import row_loops
from polysched.emit_c.bodies.extremes import extremes
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.scalar_code.size_text import size_text
from polysched.records import dataclass
from polysched.scop.budget import with_budget
from polysched.scop.scop import Array, Scop, union_map

ALWAYS = "1"
MOST_OPERATIONS = LIMITS.memory_range_operations


@dataclass(frozen=True, kw_only=True)
class MemoryRange:
    """The bytes between two addresses.

    Parameters
    ----------
    begin, end : C expressions for the address of the first byte, and of the one behind the last.
    before : C lines that compute what the two name.
    rows_apart : C condition that no two rows behind stored pointers overlap, `ALWAYS` where there is one; empty for an
        array in one piece.
    """

    begin: str
    end: str
    before: tuple[str, ...] = ()
    rows_apart: str = ""

    def apart_from(self, other: MemoryRange) -> str:
        """The C condition that the two share no byte."""
        return f"{self.end} <= {other.begin} || {other.end} <= {self.begin}"


NOTHING = MemoryRange(begin="(const char *)0", end="(const char *)0")
"""Of an array that is named where no instance reads or writes it; it lies apart from everything."""


def memory_of_value(spelling: str) -> MemoryRange:
    """The memory of an object that C can take the address of."""
    return MemoryRange(begin=f"(const char *)&({spelling})", end=f"(const char *)(&({spelling}) + 1)")


_KNOWN: WeakKeyDictionary[Scop, dict[tuple[str, int], MemoryRange]] = WeakKeyDictionary()
"""What was found within a budget for arrays of a Scop, which is asked for to judge a region and to test it.

Nothing is noted where nothing was found: a budget around may have ended, which whoever asks next does not have.
"""


def memory_of(scop: Scop, array: Array) -> MemoryRange | None:
    """The memory that the statements of a Scop touch of an array; None where no bounds are known, or found in time.

    Of an array in one piece, from the first row that is touched to the last.  Rows that pointers in memory lead to lie
    anywhere: loops over them find the lowest and the highest address, and whether each lies behind the one before (or
    each before it, as some allocators place them), which is sufficient for rows that do not overlap.  Where there is no
    time to find the exact ends, larger bounds take their place.
    """
    if array.is_scalar:
        return memory_of_value(array.c_element)
    known, asked = _KNOWN.setdefault(scop, {}), (array.name, MOST_OPERATIONS)
    found = known.get(asked) or with_budget(MOST_OPERATIONS, lambda: _touched_memory(scop, array)) or with_budget(
        MOST_OPERATIONS, lambda: _memory_around(scop, array))
    if found is not None:
        known[asked] = found
    return found


def _touched_memory(scop: Scop, array: Array) -> MemoryRange | None:
    anywhere = union_map(a.relation for s in scop.statements for a in s.accesses if a.array == array.name).range()
    anywhere = anywhere.intersect_params(scop.context)
    if anywhere.is_empty():
        return NOTHING
    touched = isl.Set.from_union_set(anywhere)
    pointers = _pointers(array)
    if not _is_bounded(touched, range(pointers, pointers + 1)):
        return _by_data(scop, array, touched, pointers)
    return _within_bounds(scop, array, touched)


def _memory_around(scop: Scop, array: Array) -> MemoryRange | None:
    """The memory between bounds of what each access touches, which no cases divide; None where there are none."""
    relations = [a.relation.gist_params(scop.context)   # bounds from types of parameters bound nothing useful
                 for s in scop.statements for a in s.accesses if a.array == array.name]
    if not relations:
        return None
    whole = _union(isl.Map.from_basic_map(r.remove_divs().simple_hull()).range().remove_divs() for r in relations)
    whole = whole.drop_constraints_not_involving_dims(isl.dim_type.set, 0, len(array.extents)).coalesce()
    convex = isl.Set.from_basic_set(whole.simple_hull())
    if all(_is_bounded(_alone(convex, k), range(1)) for k in range(len(array.extents))):
        if pointers := _pointers(array):   # a pointer that the region does not read may lead nowhere
            convex = convex.intersect(_any_along(_union(r.range() for r in relations), pointers))
        return _within_bounds(scop, array, convex)
    return None if _pointers(array) or not _is_bounded(_alone(whole, 0), range(1)) else _one_piece(scop, array, whole)


def _union(sets: Iterable[isl.Set]) -> isl.Set:
    return reduce(isl.Set.union, sets)


def _any_along(touched: isl.Set, pointers: int) -> isl.Set:
    """The rows that are touched, with all subscripts along them."""
    along = touched.dim(isl.dim_type.set) - pointers
    leading = touched.project_out(isl.dim_type.set, pointers, along).coalesce()
    return leading.insert_dims(isl.dim_type.set, pointers, along).set_tuple_id(touched.get_tuple_id())


def _alone(touched: isl.Set, dimension: int) -> isl.Set:
    """What one subscript can be, whatever the others are."""
    behind = touched.dim(isl.dim_type.set) - dimension - 1
    return touched.project_out(isl.dim_type.set, dimension + 1, behind).project_out(isl.dim_type.set, 0, dimension)


def _within_bounds(scop: Scop, array: Array, touched: isl.Set) -> MemoryRange | None:
    pointers = _pointers(array)
    if not _is_bounded(touched, range(pointers + 1)):
        return None
    written = any(a.is_write and a.array == array.name for s in scop.statements for a in s.accesses)
    return _rows(scop, array, touched, pointers, written=written) if pointers else _one_piece(scop, array, touched)


def _pointers(array: Array) -> int:
    """The subscripts that lead to a row."""
    return max((k for k, extent in enumerate(array.c_extents) if extent is None), default=0)


def _is_bounded(touched: isl.Set, dimensions: range) -> bool:
    """Whether the elements have a least and a largest index in every one of some dimensions."""
    return all(touched.dim_has_lower_bound(isl.dim_type.set, k) and touched.dim_has_upper_bound(isl.dim_type.set, k)
               for k in dimensions)


def _by_data(scop: Scop, array: Array, touched: isl.Set, pointers: int) -> MemoryRange | None:
    """The memory of one row whose outermost subscript is read from arrays, or goes along what data delimit.

    Parameters
    ----------
    pointers : the subscripts that lead to the row; each has one value.
    """
    leading = [touched.plain_get_val_if_fixed(isl.dim_type.set, k) for k in range(pointers)]
    if not all(value.is_int() for value in leading):
        return None
    at = [str(value.to_python()) for value in leading]
    one_piece = _row(array, [*at, "0"]) is not None and None not in array.c_extents[pointers + 1:]
    if not one_piece or not _is_bounded(touched, range(pointers + 1, len(array.extents))):
        return None
    found = index_range(scop, array, "polysched_" + re.sub(r"\W+", "_", array.name), dimension=pointers)
    if found is None:
        return None
    first, behind = _row(array, [*at, found.low]), _row(array, [*at, f"({found.high}) + 1"])
    there = f"{found.low} <= {found.high}"
    return MemoryRange(begin=f"({there} ? (const char *)&{first} : (const char *)0)", before=found.before,
                       rows_apart=ALWAYS if pointers else "",
                       end=f"({there} ? (const char *)&{behind} : (const char *)0)")


def _one_piece(scop: Scop, array: Array, touched: isl.Set) -> MemoryRange | None:
    if _row(array, ["0"]) is None:
        return None
    outer = touched.project_out(isl.dim_type.set, 1, len(array.extents) - 1)
    ends = extremes(outer.gist_params(scop.context).coalesce())   # what always holds makes more pieces, each costly
    if ends is None:
        return None
    first, last = (size_text(scop, value) for value in ends)
    return MemoryRange(begin=f"(const char *)&{_row(array, [first])}",
                       end=f"(const char *)&{_row(array, [f'({last}) + 1'])}")


def _row(array: Array, indices: list[str]) -> str | None:
    """The part of an array at its outermost subscripts, or the first element of it; None where C has no word for it."""
    places, rank = array.c_element.count("{}"), len(array.extents)
    if places == rank:
        whole = array.c_element.removesuffix("[{}]" * (rank - len(indices)))  # no subscripts behind the last row
        return whole.format(*indices, *["0"] * (whole.count("{}") - len(indices)))
    inner = [extent for extent in array.c_extents[1:] if extent is not None]
    if places == len(indices) == 1 and len(inner) == rank - 1:  # subscripts as the program writes them: `A[i * m + j]`
        return array.c_element.format(" * ".join([f"(long)({indices[0]})", *(f"({extent})" for extent in inner)]))
    return None


def _rows(scop: Scop, array: Array, touched: isl.Set, pointers: int, *, written: bool) -> MemoryRange | None:
    """The memory of rows that stored pointers lead to, and whether written ones lie in order.

    Parameters
    ----------
    pointers : the subscripts that lead to a row.
    """
    rank = len(array.extents)
    if array.c_element.count("{}") != rank:
        return None
    name = "polysched_" + re.sub(r"\W+", "_", array.name)
    rows = touched.project_out(isl.dim_type.set, pointers + 1, rank - pointers - 1).coalesce()
    variables = [f"{name}_{k}" for k in range(pointers)]
    begin, end, up, down, first, last = (
        f"{name}_{word}" for word in ("begin", "end", "up", "down", "first", "last"))
    here, behind = f"{name}_here", f"{name}_behind"

    order = f"_Bool {up} = 1, {down} = 1;"
    in_order = [f"{up} &= {here} >= {last};", f"{down} &= !{first} || {behind} <= {first};", f"{first} = {here};",
                f"{last} = {behind};"]

    def visit(indices: list[str]) -> list[str]:
        leading, low, high = indices[:-2], indices[-2], indices[-1]
        return [
            f"{here} = (const char *)&{_row(array, [*leading, low])};",
            f"{behind} = (const char *)(&{_row(array, [*leading, high])} + 1);",
            f"{begin} = !{begin} || {here} < {begin} ? {here} : {begin};",
            f"{end} = {behind} > {end} ? {behind} : {end};",
            *(in_order if written else ()),
        ]

    loops = row_loops(scop, rows, variables, visit)
    kept = f", *{first} = 0, *{last} = 0" if written else ""
    before = (f"const char *{begin} = 0, *{end} = 0, *{here}, *{behind}{kept};", *([order] if written else ()),
              *loops)
    return MemoryRange(begin=begin, end=end, before=before, rows_apart=f"{up} || {down}" if written else "")
