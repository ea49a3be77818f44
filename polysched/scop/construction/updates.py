"""Assignments that update an element: `A[i] = A[i] + x` as `A[i] += x`."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.scop.body import Binary, Expr, Load
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value

_UPDATES = ("+", "-", "*")


def as_update(region: Region, array: str, subscripts: Sequence[Value], written: Expr) -> tuple[str | None, Expr]:
    """The operator of an update, and what is on its right; no operator and the value itself where it is none.

    Parameters
    ----------
    array, subscripts : the element that is assigned.
    written : the value that it gets, of its type.
    """
    if isinstance(written, Binary) and written.op in _UPDATES and written.dtype == region.arrays[array].dtype:
        if _is_element(region, written.left, array, subscripts):
            return written.op, written.right
        if written.op != "-" and _is_element(region, written.right, array, subscripts):
            return written.op, written.left
    return None, written


def _is_element(region: Region, read: Expr, array: str, subscripts: Sequence[Value]) -> bool:
    if not isinstance(read, Load):
        return False
    touch = region.touches_of(read)[-1]   # behind those of its subscripts
    return touch.array == array and all(
        own.affine is not None and other.affine is not None and bool(own.affine.intersect_params(
            region.domain).is_equal(other.affine.intersect_params(region.domain)))
        for own, other in zip(touch.subscripts, subscripts, strict=True))
