"""Quotients and remainders by a size, `(i + 1) % n`: affine in pieces where the quotient is one of a few numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import islpy as isl

from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value

QUOTIENTS = range(-2, 3)
"""What a quotient may be: wrapped neighbours of an index have -1, 0 or 1."""


def with_bounded_quotient(region: Region, result: Value, left: Value, right: Value, *, remainder: bool) -> Value:
    """The result of `left // right` or `left % right`, rounded down, as it is for every instance in the open loops.

    If the divisor is positive there and the quotient is one of `QUOTIENTS`, the result is affine in pieces, and its
    cases are told apart by comparisons, without a division.  A result that is affine stays as it is.
    """
    dividend, divisor = left.affine, right.affine
    if not result.weak or result.affine is not None or dividend is None or divisor is None \
            or not region.holds(divisor.pos_set()):
        return result
    pieces: isl.PwAff | None = None
    covered = isl.Set("{ : 1 = 0 }")
    met: list[int] = []
    for quotient in QUOTIENTS:
        low = divisor.scale_val(isl.Val(quotient))
        where = dividend.ge_set(low).intersect(dividend.lt_set(low.add(divisor)))
        if not region.meets(where):
            continue
        piece = (dividend.sub(low) if remainder else values.affine_constant(quotient)).intersect_params(where)
        pieces = piece if pieces is None else pieces.union_add(piece)
        covered = covered.union(where)
        met.append(quotient)
    if pieces is None or not region.holds(covered):
        return result
    chosen = _by_comparisons(left, right, met, remainder=remainder)
    return replace(result, affine=pieces.coalesce(), expr=chosen.expr if chosen.dtype == result.dtype else result.expr)


def _by_comparisons(left: Value, right: Value, quotients: list[int], *, remainder: bool) -> Value:
    """`left < q * right ? the result for a quotient below q : ...`, from the smallest quotient on."""

    def times(quotient: int) -> Value:
        return values.arithmetic("*", values.number(quotient), right)

    def result(quotient: int) -> Value:
        return values.arithmetic("-", left, times(quotient)) if remainder else values.number(quotient)

    chosen = result(quotients[-1])
    for quotient, following in reversed(list(pairwise(quotients))):
        chosen = values.select(values.compare("<", left, times(following)), result(quotient), chosen)
    return chosen
