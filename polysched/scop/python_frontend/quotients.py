"""Quotients and remainders by a size, `(i + 1) % n`: affine in pieces where the quotient is one of a few numbers."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value
from polysched.scop.python_frontend.operands import Operand

QUOTIENTS = range(-2, 3)
"""What a quotient may be: wrapped neighbours of an index have -1, 0 or 1."""


def with_bounded_quotient(region: Region, result: Value, left: Operand, right: Operand, *, remainder: bool) -> Value:
    """The result of `left // right` or `left % right` with its affine form, if it has one in the open loops.

    It has one if the divisor is positive there and the quotient is one of `QUOTIENTS` for every instance.
    """
    if not (isinstance(left, Value) and isinstance(right, Value) and result.weak):
        return result
    dividend, divisor = left.affine, right.affine
    if dividend is None or divisor is None or not region.holds(divisor.gt_set(values.affine_constant(0))):
        return result
    pieces: isl.PwAff | None = None
    covered = isl.Set("{ : 1 = 0 }")
    for quotient in QUOTIENTS:
        low = divisor.scale_val(isl.Val(quotient))
        where = dividend.ge_set(low).intersect(dividend.lt_set(low.add(divisor)))
        if not region.meets(where):
            continue
        piece = (dividend.sub(low) if remainder else values.affine_constant(quotient)).intersect_params(where)
        pieces = piece if pieces is None else pieces.union_add(piece)
        covered = covered.union(where)
    return replace(result, affine=pieces.coalesce()) if pieces is not None and region.holds(covered) else result
