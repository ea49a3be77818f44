"""`guarded`: the emitted region runs when what the extraction assumes holds, else the original code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import islpy as isl

from polysched.emit_c.c_source import CSource
from polysched.emit_c.original_code import inside, original_lines
from polysched.emit_c.size_text import size_text
from polysched.errors import UsageError
from polysched.scop.scop import Array, Scop, Storage, union_map


def guarded(source: CSource) -> CSource:
    """Put the region behind a test of its assumptions, with the original code as the other branch.

    Rewrite:  NEW  ->  if (assumption && ...) { NEW } else { ORIGINAL }

    Assumptions that cannot be tested at run time stay assumptions; each is named in `fallbacks`.  A region
    without testable assumptions stays as it is.

    Raises
    ------
    UsageError : the region does not come from a C file.
    """
    scop = source.scop
    if scop.source is None:
        raise UsageError("a guard needs the original code", where=scop.name,
                         hint="guards are for regions of C files")
    conditions, untested = _tests(scop)
    if not conditions:
        return replace(source, fallbacks=(*source.fallbacks, *untested))
    test = " && ".join(f"({condition})" for condition in conditions)
    lines = [f"if ({test}) {{", *(inside(line) for line in source.text.splitlines()), "} else {",
             *original_lines(scop), "}"]
    return replace(source, text="".join(f"{line}\n" for line in lines), fallbacks=(*source.fallbacks, *untested))


def _tests(scop: Scop) -> tuple[list[str], tuple[str, ...]]:
    """The run-time tests of the assumptions, and what is left untested."""
    conditions: dict[str, None] = {}
    untested = []
    for assumption in scop.assumptions:
        if assumption.condition is not None:
            conditions[assumption.condition] = None
            continue
        apart = list(_apart(scop)) if assumption.kind == "no-alias" else []
        if apart and None not in apart:
            conditions.update(dict.fromkeys(c for c in apart if c is not None))
        else:
            untested.append(f"not tested at run time: {assumption.text}")
    return list(conditions), tuple(untested)


def _apart(scop: Scop) -> Iterator[str | None]:
    """Per pair of arrays that could overlap, the test that what the region touches of them does not."""
    written = {a.array for s in scop.statements for a in s.writes}
    shared = [a for a in scop.arrays if a.storage is Storage.ARGUMENT and not a.restrict and not a.is_scalar]
    for left, right in combinations(shared, 2):
        if left.name in written or right.name in written:
            ranges = (_touched(scop, left), _touched(scop, right))
            if ranges[0] is None or ranges[1] is None:
                yield None
            else:
                yield f"{ranges[0][1]} <= {ranges[1][0]} || {ranges[1][1]} <= {ranges[0][0]}"


def _touched(scop: Scop, array: Array) -> tuple[str, str] | None:
    """The address of the first row that the region touches and the one behind the last; None if it has no bound.

    Rows that pointers in memory lead to lie anywhere: the first and the last say nothing of the others.
    """
    if _row(array, "0") is None or any(extent is None for extent in array.c_extents[1:]):
        return None
    relation = union_map(a.relation for s in scop.statements for a in s.accesses if a.array == array.name)
    touched = isl.Set.from_union_set(relation.range()).intersect_params(scop.context)
    if not (touched.dim_has_lower_bound(isl.dim_type.set, 0) and touched.dim_has_upper_bound(isl.dim_type.set, 0)):
        return None
    first, last = (size_text(scop, value) for value in (touched.dim_min(0), touched.dim_max(0)))
    return f"(const char *)&{_row(array, first)}", f"(const char *)&{_row(array, f'({last}) + 1')}"


def _row(array: Array, index: str) -> str | None:
    """A row, or its first element; None where C has no word for it."""
    places, inner = array.c_element.count("{}"), [extent for extent in array.c_extents[1:] if extent is not None]
    if places == len(array.extents):
        whole = array.c_element.removesuffix("[{}]" * (places - 1))   # nothing is subscripted behind the last row
        return whole.format(index, *["0"] * (whole.count("{}") - 1))
    if places == 1 and len(inner) == len(array.extents) - 1:  # subscripts as the program writes them: `A[i * m + j]`
        return array.c_element.format(" * ".join([f"(long)({index})", *(f"({extent})" for extent in inner)]))
    return None
