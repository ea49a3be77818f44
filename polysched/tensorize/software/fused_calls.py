"""Calls of `fma`, by which a program itself rounds a product and its addition once."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from polysched.scop.body import Binary, Call, Cast, Expr, Load
from polysched.tensorize.equality.normal_form import widens
from polysched.tensorize.software.clamps import plain

FUSED_CALLS = ("fma", "fmaf")


class Fusion(Enum):
    """Whether the program itself rounds a product and its addition once: to the sum's type, or to a wider one first."""

    NONE = "none"
    OWN = "own"
    WIDER = "wider"


class Unfused(NamedTuple):
    """An update as a product and an addition, and how the program rounds it."""

    update: Expr
    fusion: Fusion


def without_fusion(update: Expr, target: str) -> Unfused:
    """`fma(a, b, old value)` as `a * b + old value` in the type of the old value, and what rounds it how often.

    A `fma` of numbers that were narrower is rounded to its own type and then to theirs; what is rounded to a narrower
    type than the old value's on its way is neither.
    """
    inner, dtype = plain(update), update.dtype
    while isinstance(inner, Cast) and inner.dtype.is_float and inner.operand.dtype.is_float \
            and widens(dtype, inner.dtype):
        inner = inner.operand
    if not (isinstance(inner, Call) and inner.function in FUSED_CALLS
            and plain(inner.arguments[2]) == Load(target, dtype)):
        return Unfused(update, Fusion.NONE)
    if inner.dtype == dtype:
        a, b, old = (x if x.dtype == dtype else Cast(x, dtype) for x in inner.arguments)
        return Unfused(Binary("+", Binary("*", a, b, dtype), old, dtype), Fusion.OWN)
    left, right = (plain(x) for x in inner.arguments[:2])
    if not (dtype.is_float and widens(dtype, inner.dtype) and left.dtype == right.dtype == dtype):
        return Unfused(update, Fusion.NONE)
    return Unfused(Binary("+", Binary("*", left, right, dtype), Load(target, dtype), dtype), Fusion.WIDER)
