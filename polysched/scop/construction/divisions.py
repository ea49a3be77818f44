"""Divisions of integers as NumPy has them, by any divisor: C leaves 0 open, and its processors end the program.

A quotient or a remainder by 0 is 0, and the smallest integer by -1 wraps around; NumPy warns, a kernel does not.
"""

from __future__ import annotations

from collections.abc import Callable

from polysched.scop.construction import functions, values
from polysched.scop.construction.promotion import result_type
from polysched.scop.construction.values import Value, constant_of
from polysched.scop.dtypes import BOOL, INT8

Divide = Callable[[Value, Value], Value]


def floor_divide(left: Value, right: Value) -> Value:
    """`left // right`."""
    return _quotient(functions.floor_divide, left, right)


def modulo(left: Value, right: Value) -> Value:
    """`left % right`: the sign is the divisor's."""
    return _remainder(functions.modulo, left, right)


def truncated_quotient(left: Value, right: Value) -> Value:
    """The quotient of integers rounded towards zero."""
    return _quotient(functions.truncated_quotient, left, right)


def truncated_remainder(left: Value, right: Value) -> Value:
    """The remainder of integers whose sign is that of the left."""
    return _remainder(functions.truncated_remainder, left, right)


def _quotient(divide: Divide, left: Value, right: Value) -> Value:
    if _is_harmless(left, right):
        return divide(left, right)
    right = _of_one_type(left, right)
    quotient = divide(left, _divisor(right))   # by 0 and -1 that is the left itself
    if right.dtype.is_signed:
        quotient = values.select(_equals(right, -1), values.negate(quotient), quotient)
    return values.select(_equals(right, 0), values.number(0), quotient)


def _remainder(divide: Divide, left: Value, right: Value) -> Value:
    harmless = _is_harmless(left, right)
    return divide(left, right if harmless else _divisor(_of_one_type(left, right)))   # by 1 it is 0


def _of_one_type(left: Value, right: Value) -> Value:
    """The divisor; a number without a size takes the type of what it meets, where a call is checked for it."""
    return values.cast(right, left.dtype) if right.weak and not left.weak and left.dtype != BOOL else right


def _is_harmless(left: Value, right: Value) -> bool:
    """Whether C has the same: of floats, as which NumPy divides int64 by uint64, and by a constant but 0 and -1."""
    common, _ = result_type(left.dtype, left.weak, right.dtype, right.weak)
    constant = constant_of(right)
    return common.is_float or (constant is not None and constant not in (0, -1))


def _divisor(right: Value) -> Value:
    """The divisor, but 1 for 0 and -1."""
    if right.dtype == BOOL and not right.weak:
        right = values.cast(right, INT8)   # as NumPy counts
    no_divisor = _equals(right, 0)
    if right.dtype.is_signed:
        no_divisor = values.logical("||", no_divisor, _equals(right, -1))
    return values.select(no_divisor, values.number(1), right)


def _equals(value: Value, number: int) -> Value:
    return values.compare("==", value, values.number(number))
