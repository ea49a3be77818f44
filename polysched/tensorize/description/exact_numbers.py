"""The functions of `exact_arithmetic` on exact numbers: rationals rounded once, written from what they mean.

A float is a NumPy scalar, a short float its bits, an integer a Python one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

Value: TypeAlias = Any   # int, np.float32 or np.float64, by C type

SIGNIFICANDS = {"float": (24, -149, 128), "double": (53, -1074, 1024), "bf16": (8, -133, 128), "f16": (11, -24, 16)}
"""Per format: bits of the significand, exponent of the least denormal, exponent of what is infinite."""


def nearest(x: Fraction, form: str) -> float:
    """The closest number of a format, ties to the even one (IEEE 754-2019, section 4.3.1)."""
    if not x:
        return 0.0
    bits, least, infinite = SIGNIFICANDS[form]
    exponent = max(_exponent(x) - bits + 1, least)
    whole = round(x / Fraction(2) ** exponent)   # Python rounds ties to even
    result = whole * Fraction(2) ** exponent
    if abs(result) >= Fraction(2) ** infinite:
        return math.inf if x > 0 else -math.inf
    return float(result)


def _exponent(x: Fraction) -> int:
    """The exponent of the leading bit."""
    guess = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return guess if abs(x) >= Fraction(2) ** guess else guess - 1


def to_float(n: int, form: str) -> Value:
    """An integer as a float, rounded once."""
    return (np.float32 if form == "float" else np.float64)(nearest(Fraction(n), form))


def fused(form: str) -> Callable[..., Value]:
    """`a * b + c` with one rounding."""
    kind = np.float32 if form == "float" else np.float64

    def multiply_add(a: Value, b: Value, c: Value) -> Value:
        if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
            return kind(kind(a * b) + c) if not (np.isfinite(a) and np.isfinite(b)) else kind(c)
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        if exact:
            rounded = nearest(exact, form)
            return kind(rounded if rounded or exact > 0 else -0.0)   # what underflows keeps its sign
        product_sign = math.copysign(1, a) * math.copysign(1, b)
        product_is_zero = not (a and b)
        if product_is_zero or not c:
            return kind(-0.0 if product_sign < 0 and math.copysign(1, c) < 0 and product_is_zero and not c else 0.0)
        return kind(0.0)   # x - x

    return multiply_add


def from_bits(bits: int, form: str) -> np.float32:
    """The number that 16 bits stand for."""
    significand, least, _ = SIGNIFICANDS[form]
    stored = significand - 1
    sign, field, fraction = bits >> 15, (bits & 0x7FFF) >> stored, bits & ((1 << stored) - 1)
    if field == (1 << (15 - stored)) - 1:
        value = math.nan if fraction else math.inf
    elif field == 0:
        value = math.ldexp(fraction, least)
    else:
        value = math.ldexp(fraction + (1 << stored), least + field - 1)
    return np.float32(math.copysign(value, -1.0 if sign else 1.0))


def to_bits(x: np.float32, form: str) -> int:
    """The 16 bits of the closest number."""
    significand, least, _ = SIGNIFICANDS[form]
    stored = significand - 1
    sign = 0x8000 if math.copysign(1, x) < 0 else 0
    top = ((1 << (15 - stored)) - 1) << stored
    if np.isnan(x):
        return sign | top | 1 << (stored - 1)
    value = abs(nearest(Fraction(float(x)), form)) if np.isfinite(x) else math.inf
    if math.isinf(value):
        return sign | top
    steps = int(Fraction(value) / Fraction(2) ** least)   # numbers of a format are ordered as their bits are
    if steps < 1 << stored:
        return sign | steps
    shift = steps.bit_length() - significand
    return sign | (shift + 1) << stored | (steps >> shift) - (1 << stored)


def flushed(x: np.float32) -> np.float32:
    """Zero of the same sign for a denormal."""
    return np.float32(math.copysign(0.0, x)) if abs(x) < 2.0 ** -126 else x


def odd(x: Fraction, sign_of_zero: float) -> np.float32:
    """Truncated to 24 bits, the last of which is set where that lost something; denormals are zero."""
    if abs(x) < Fraction(2) ** -126:
        return np.float32(math.copysign(0.0, sign_of_zero if not x else float(x)))
    if abs(x) >= Fraction(2) ** 128:
        return np.float32(math.inf if x > 0 else -math.inf)
    step = Fraction(2) ** (_exponent(x) - 23)
    whole = math.trunc(x / step)
    if whole * step != x and whole % 2 == 0:
        whole += 1 if x > 0 else -1
    return np.float32(float(whole * step))


def _round_odd(x: np.float64) -> np.float32:
    return odd(Fraction(float(x)), float(x)) if np.isfinite(x) else np.float32(x)


def _mul_odd(a: np.float32, b: np.float32) -> np.float32:
    return _round_odd(np.float64(flushed(a)) * np.float64(flushed(b)))   # 48 bits: exact


def _add_odd(a: np.float32, b: np.float32) -> np.float32:
    x, y = flushed(a), flushed(b)
    if not (np.isfinite(x) and np.isfinite(y)):
        return np.float32(x + y)
    return odd(Fraction(float(x)) + Fraction(float(y)), float(np.float64(x) + np.float64(y)))


def _tf32(x: np.float32) -> np.float32:
    """Without the last 13 bits of the significand, those of a NaN included."""
    if np.isinf(x):
        return x
    if np.isnan(x):
        kept = int(np.float32(x).view(np.uint32)) >> 13 << 13
        return np.uint32(kept).view(np.float32)
    step = Fraction(2) ** max(_exponent(Fraction(float(x))) - 10, -136) if x else Fraction(1)
    return np.float32(math.copysign(float(math.trunc(Fraction(float(x)) / step) * step), x))


def _clamp(low: int, high: int) -> Callable[[int], int]:
    return lambda x: min(max(x, low), high)


def _whole(x: np.float32, otherwise: int, cut: bool) -> int:
    if np.isnan(x):
        return otherwise
    if np.isinf(x) or not -(2 ** 31) <= (n := round(Fraction(float(x)))) < 2 ** 31:
        return (2 ** 31 - 1 if x > 0 else -(2 ** 31)) if cut else otherwise
    return n


def _integral(choose: Callable[[Fraction], int]) -> Callable[[Value], Value]:
    def rounded(x: Value) -> Value:
        return type(x)(math.copysign(float(choose(Fraction(float(x)))), x)) if np.isfinite(x) else x

    return rounded


def _away(x: Fraction) -> int:
    whole = math.floor(abs(x) + Fraction(1, 2))
    return whole if x > 0 else -whole


def _leading_zeros(x: int, *, bits: int) -> int:
    return bits - x.bit_length()


def _trailing_zeros(x: int, *, bits: int) -> int:
    return (x & -x).bit_length() - 1 if x else bits


MULTIPLY_ADD = {"fma": fused("double"), "fmaf": fused("float")}   # as C calls them
MEANINGS: dict[str, Callable[..., Value]] = {
    "bf16_to_f32": lambda x: from_bits(x, "bf16"), "f16_to_f32": lambda x: from_bits(x, "f16"),
    "f32_to_bf16": lambda x: to_bits(x, "bf16"), "f32_to_f16": lambda x: to_bits(x, "f16"),
    "f32_to_tf32": _tf32, "fma_f32": MULTIPLY_ADD["fmaf"], "fma_f64": MULTIPLY_ADD["fma"], "flush": flushed,
    "fma_flush": lambda a, b, c: flushed(MULTIPLY_ADD["fmaf"](flushed(a), flushed(b), flushed(c))),
    "add_flush": lambda a, b: flushed(np.float32(flushed(a) + flushed(b))),
    "round_odd": _round_odd, "mul_odd": _mul_odd, "add_odd": _add_odd,
    "sat_i32": _clamp(-(2 ** 31), 2 ** 31 - 1), "sat_i16": _clamp(-(2 ** 15), 2 ** 15 - 1),
    "sat_i8": _clamp(-128, 127), "sat_u8": _clamp(0, 255), "sat_u16": _clamp(0, 65535),
    **{f"{kind}_{t}": choose for kind, choose in (("min", min), ("max", max)) for t in ("i32", "u32", "i64", "u64")},
    "popcount_u32": lambda x: x.bit_count(), "popcount_u64": lambda x: x.bit_count(),
    **{f"clz_u{bits}": partial(_leading_zeros, bits=bits) for bits in (32, 64)},
    **{f"ctz_u{bits}": partial(_trailing_zeros, bits=bits) for bits in (32, 64)},
    "clamp_i32": lambda x, low, high: low if x < low else min(x, high),
    "abs_i32": lambda x: x if x == -(2 ** 31) else abs(x), "abs": lambda x: x if x == -(2 ** 31) else abs(x),
    "sat_f32_i32": lambda x: _whole(x, 0, cut=True), "cvt_f32_i32": lambda x: _whole(x, -(2 ** 31), cut=False),
    **{name + suffix: meaning for suffix in ("f", "") for name, meaning in (
        ("fabs", lambda x: abs(x)), ("rint", _integral(round)), ("round", _integral(_away)),
        ("floor", _integral(math.floor)), ("ceil", _integral(math.ceil)), ("trunc", _integral(math.trunc)))},
}
