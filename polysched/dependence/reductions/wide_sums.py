"""Sums that are wider than what they add up, so that their order is lost when they are rounded."""

from __future__ import annotations

from polysched.dependence.reductions.reduction import Reduction
from polysched.scop.scop import Scop


def is_wide_sum(scop: Scop, reduction: Reduction) -> bool:
    """Whether a statement sums up elements of shorter types alone, in a floating-point type.

    In any order, a sum of n floats in double is off by less than n 2^-53 times the sum of their magnitudes.  Where
    they do not cancel, that is n 2^-29 of half a place of the float that the sum is rounded to: another order changes
    it only near a tie.  Of float16 in float, it is n 2^-13.
    """
    if reduction.operator != "sum" or reduction.beside or not reduction.dtype.is_float:
        return False
    statement = scop.statement(reduction.statement)
    added = [access for access in statement.accesses if access.reference not in reduction.own]
    return bool(added) and all(scop.array(access.array).dtype.bits < reduction.dtype.bits for access in added)
