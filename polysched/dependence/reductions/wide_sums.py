"""Sums that are wider than what they add up, so that their order is lost when they are rounded."""

from __future__ import annotations

from polysched.dependence.reductions.reduction import Reduction
from polysched.scop.scop import Scop


def is_wide_sum(scop: Scop, reduction: Reduction) -> bool:
    """Whether a statement sums up elements of shorter types alone, in a floating-point type.

    A sum of n floats in double has a relative error below n 2^-53 of the sum of their magnitudes in any order, which
    is 2^29 times less than half a place of a float: another order changes the rounded result where it nearly ties.
    """
    if reduction.operator != "sum" or reduction.beside or not reduction.dtype.is_float:
        return False
    statement = scop.statement(reduction.statement)
    added = [access for access in statement.accesses if access.reference not in reduction.own]
    return bool(added) and all(scop.array(access.array).dtype.bits < reduction.dtype.bits for access in added)
