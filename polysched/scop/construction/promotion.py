"""NumPy's result types, made explicit.

A value is *weak* when it is a Python number: it takes the type of whatever NumPy value it meets, as
long as the kind allows (NEP 50, "Promotion behavior for Python scalars").  Two NumPy types meet as
`numpy.promote_types` says; bfloat16, which NumPy does not have, follows the table of float16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polysched.scop.dtypes import (
    BFLOAT16,
    BOOL,
    BY_NAME,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    LONGDOUBLE,
    UINT32,
    DType,
    Kind,
)


def from_numpy(dtype: np.dtype[Any]) -> DType | None:
    """The element type of a NumPy dtype; None when there is none (records, objects, complex, swapped bytes)."""
    if not dtype.isnative:
        return None
    if dtype == np.dtype(np.longdouble) and dtype != np.dtype(np.float64):
        return LONGDOUBLE
    known = BY_NAME.get(dtype.name)
    if known is not None and known is not LONGDOUBLE and dtype.itemsize == known.bytes:
        return known
    return None


def to_numpy(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of an element type.

    Raises
    ------
    ValueError : NumPy has none (bfloat16).
    """
    if dtype == BFLOAT16:
        raise ValueError("NumPy has no bfloat16")
    return np.dtype(np.longdouble) if dtype == LONGDOUBLE else np.dtype(dtype.name)


def promote_types(left: DType, right: DType) -> DType:
    """The type in which NumPy computes with two typed operands.

    Source: numpy.promote_types; for bfloat16 the row of float16, and float32 where both meet.
    """
    if left == right:
        return left
    if BFLOAT16 in (left, right):
        other = right if left == BFLOAT16 else left
        if other == FLOAT16:
            return FLOAT32
        common = promote_types(FLOAT16, other)
        return BFLOAT16 if common == FLOAT16 else common
    found = from_numpy(np.promote_types(to_numpy(left), to_numpy(right)))
    if found is None:
        raise ValueError(f"no common type of {left} and {right}")
    return found


def result_type(left: DType, left_weak: bool, right: DType, right_weak: bool) -> tuple[DType, bool]:
    """The common type of two operands, and whether it is still weak.

    Source: NEP 50: a Python number changes the other operand's type only when its kind is higher
    (bool < integer < float), and then to NumPy's default type of that kind.
    """
    if left_weak == right_weak:
        if left_weak:
            return (FLOAT64 if left.is_float or right.is_float else
                    BOOL if left == right == BOOL else INT64), True
        return promote_types(left, right), False
    weak, strong = (left, right) if left_weak else (right, left)
    if weak.is_float and not strong.is_float:
        return FLOAT64, False
    if weak.is_integer and weak != BOOL and strong == BOOL:
        return INT64, False
    return strong, False


def computation_type(dtype: DType, op: str) -> DType:
    """The C type in which an operation whose result has `dtype` is carried out without undefined behaviour.

    Short floats compute in float and round after every operation, as NumPy's do; short integers
    compute in int, except that a product of unsigned ones could leave int's range.
    """
    if dtype in (FLOAT16, BFLOAT16):
        return FLOAT32
    if dtype.is_integer and dtype.bits < 32:
        return UINT32 if dtype.kind is Kind.UNSIGNED and op in ("*", "<<") else INT32
    return dtype


def sum_type(dtype: DType) -> DType:
    """The type of `numpy.sum` and `numpy.prod` over elements of a type: short integers widen to 64 bits."""
    if dtype.is_float:
        return dtype
    return BY_NAME["uint64"] if dtype.kind is Kind.UNSIGNED else INT64


def function_type(name: str, dtype: DType, weak: bool) -> DType:
    """The type of a floating-point ufunc (`sqrt`, `exp`) for an operand of a type, as NumPy resolves it."""
    if dtype.is_float:
        return dtype
    if weak:
        return FLOAT64
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc):
        return FLOAT64
    resolved = ufunc.resolve_dtypes((*[to_numpy(dtype)] * ufunc.nin, *[None] * ufunc.nout))
    return from_numpy(resolved[-1]) or FLOAT64
