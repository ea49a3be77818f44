"""The type and value of C's constants (C11 6.4.4)."""

from __future__ import annotations

import ast
import math
import re
from fractions import Fraction

from pycparser import c_ast

from polysched.scop import dtypes
from polysched.scop.body import Literal
from polysched.scop.dtypes import DType

_INTEGER = re.compile(r"^(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlL]*)$")
_FLOATING = re.compile(r"^(?P<digits>0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+|[0-9.]+(?:[eE][+-]?[0-9]+)?)"
                       r"(?P<suffix>[fFlL]|[fF]16|)$")
_FLOAT_SUFFIX = {"": dtypes.FLOAT64, "f": dtypes.FLOAT32, "l": dtypes.LONGDOUBLE, "f16": dtypes.FLOAT16}

_SIGNIFICANDS = {dtypes.FLOAT16: (11, -24, 16), dtypes.FLOAT32: (24, -149, 128)}
"""Bits of the significand, exponent of the least denormal, exponent of what is infinite, of types below double."""


def literal(text: str) -> Literal | None:
    """The constant that a spelling stands for; None for a string or something unknown."""
    text = text.replace("'", "") if text[:1].isdigit() else text
    if match := _INTEGER.match(text):
        value = _integer_value(match[1])
        dtype = _integer_type(value, match[1].startswith(("0x", "0X", "0b", "0B")) or match[1].startswith("0"),
                              match[2].lower())
        return Literal(text, value, dtype) if dtype else None
    if match := _FLOATING.match(text):
        dtype = _FLOAT_SUFFIX[match["suffix"].lower()]
        return Literal(text, _floating_value(match["digits"], dtype), dtype)
    if text.startswith("'") and text.endswith("'"):
        return _character(text)
    return None


def integer_constant(node: c_ast.Node | None) -> int | None:
    """The value of an integer constant, which is not negative but for a character; None for anything else."""
    found = literal(node.value) if isinstance(node, c_ast.Constant) else None
    return found.value if found is not None and isinstance(found.value, int) else None


def _floating_value(digits: str, dtype: DType) -> float:
    """The number of a type that is closest, rounded once; of a wider type than double the closest double."""
    hexadecimal = digits[:2].lower() == "0x"
    closest = _closest_double(digits) if hexadecimal else float(digits)
    if dtype not in _SIGNIFICANDS or not closest or math.isinf(closest):
        return closest
    exact = _hexadecimal_fraction(digits) if hexadecimal else Fraction(digits)
    bits, least, infinite = _SIGNIFICANDS[dtype]
    step = Fraction(2) ** max(math.frexp(closest)[1] - bits, least)
    if abs(exact) < step * 2 ** (bits - 1) and step > Fraction(2) ** least:
        step /= 2   # the double was rounded up to a power of two
    rounded = round(exact / step) * step   # ties to even (C11 6.4.4.2 recommends it, IEEE 754-2019 4.3.1 says how)
    return float(rounded) if rounded < Fraction(2) ** infinite else math.inf


def _closest_double(digits: str) -> float:
    try:
        return float.fromhex(digits)
    except OverflowError:
        return math.inf


def _hexadecimal_fraction(digits: str) -> Fraction:
    significand, _, exponent = digits[2:].lower().partition("p")
    whole, _, fraction = significand.partition(".")
    return Fraction(int(whole + fraction, 16)) * Fraction(2) ** (int(exponent) - 4 * len(fraction))


def _integer_value(digits: str) -> int:
    if digits[:2].lower() in ("0x", "0b"):
        return int(digits, 0)
    return int(digits, 8) if digits.startswith("0") and digits.isdigit() else int(digits)


def _integer_type(value: int, any_sign: bool, suffix: str) -> DType | None:
    """The first type of C's list that holds the value (C11 6.4.4.1)."""
    unsigned, long = "u" in suffix, "l" in suffix
    signed_types = [dtypes.INT64] if long else [dtypes.INT32, dtypes.INT64]
    unsigned_types = [dtypes.UINT64] if long else [dtypes.UINT32, dtypes.UINT64]
    if unsigned:
        candidates = unsigned_types
    elif any_sign:
        candidates = [t for pair in zip(signed_types, unsigned_types, strict=True) for t in pair]
    else:
        candidates = signed_types
    return next((t for t in candidates if value <= t.value_range()[1]), None)


def _character(text: str) -> Literal | None:
    try:
        value = ast.literal_eval("b" + text)
    except (ValueError, SyntaxError):
        return None
    if not isinstance(value, bytes) or len(value) != 1:
        return None
    code = value[0] if value[0] < 128 else value[0] - 256
    return Literal(text, code, dtypes.INT32)
