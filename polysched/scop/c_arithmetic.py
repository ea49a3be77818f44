"""C's arithmetic on Python numbers: conversions, operators and math.h, one value at a time.

Integers and `_Bool` are Python ints, `float16` to `float64` are Python floats that hold exactly a value of
the narrow type, `long double` is `numpy.longdouble`.  Rounding a double result to a narrower type after
each `+ - * /` gives the correctly rounded narrow result, since 53 >= 2p + 2 for p = 8, 11, 24 (Figueroa, "When is
double rounding innocuous?", SIGNUM Newsletter 30(3), 1995).  What C leaves undefined is refused.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import operator
from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from polysched.errors import UndefinedBehaviourError, UsageError
from polysched.scop.dtypes import (
    BFLOAT16,
    BOOL,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    LONGDOUBLE,
    UINT16,
    UINT32,
    UINT64,
    DType,
    Kind,
)

Number: TypeAlias = "int | float | np.longdouble"
Function: TypeAlias = Callable[..., Number]

UNARY_MATH = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp",
              "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2", "nearbyint", "rint", "round",
              "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc")
BINARY_MATH = ("atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder")
INFINITIES = tuple(f"__builtin_{name}{suffix}" for name in ("inf", "huge_val") for suffix in ("", "f", "l"))
BUILTIN = "__builtin_"
LONGDOUBLE_MATH = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "pow": "power", "atan2": "arctan2"}


def round_float(value: Number, dtype: DType) -> Number:
    """The value of the floating type that is nearest to a double (ties to even)."""
    if dtype == FLOAT64:
        return float(value)
    if dtype == FLOAT32:
        return float(np.float32(value)) if isinstance(value, np.longdouble) else ctypes.c_float(value).value
    if dtype == LONGDOUBLE:
        return np.longdouble(value)
    if dtype == BFLOAT16:
        return _round_to_bfloat16(float(value))
    with np.errstate(over="ignore"):
        return float(np.float16(value))


def _round_to_bfloat16(value: float) -> float:
    if not math.isfinite(value) or value == 0.0:
        return value
    exponent = max(math.frexp(value)[1] - 8, -133)
    return ctypes.c_float(math.ldexp(round(math.ldexp(value, -exponent)), exponent)).value


def bfloat16_value(bits: int) -> float:
    """The number behind the bits of a bfloat16."""
    return float(np.uint32(bits << 16).view(np.float32))


def bfloat16_bits(value: float) -> int:
    """The bits of a number that a bfloat16 holds exactly."""
    return int(np.float32(value).view(np.uint32)) >> 16


def wrap(value: int, dtype: DType) -> int:
    """The value modulo 2^bits in the range of an integer type; `_Bool` is whether it is not zero."""
    if dtype.kind is Kind.BOOL:
        return int(value != 0)
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.kind is Kind.SIGNED and value >> (dtype.bits - 1) else value


def convert(value: Number, dtype: DType) -> Number:
    """Conversion of any value to a type (C11 6.3.1); refuses a float out of the integer's range (6.3.1.4)."""
    if dtype.is_float:
        if isinstance(value, int) and dtype == FLOAT32:
            return float(np.float32(np.longdouble(value)))
        return round_float(value, dtype)
    if dtype == BOOL:
        return int(value != 0)
    if isinstance(value, int):
        return wrap(value, dtype)
    if not math.isfinite(value):
        raise UndefinedBehaviourError(f"conversion of {value} to {dtype}", hint="C leaves this undefined (C11 6.3.1.4)")
    truncated = int(value)
    least, largest = dtype.value_range()
    if not least <= truncated <= largest:
        raise UndefinedBehaviourError(f"conversion of {value} to {dtype} is out of range",
                                      hint="C leaves this undefined (C11 6.3.1.4)")
    return truncated


def divide_integers(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "/": divide_integers, "%": lambda left, right: left - right * divide_integers(left, right),
    "<<": operator.lshift, ">>": operator.rshift,
}
FLOAT_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}
WIDE_OPERATORS: dict[str, Callable[[np.longdouble, np.longdouble], np.longdouble]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}
COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}


def integer_operation(op: str, left: int, right: int, dtype: DType, wrap_signed: bool) -> int:
    """`left op right` in an integer type whose values both operands already are (C11 6.5.5 to 6.5.12)."""
    if op in "/%" and right == 0:
        raise UndefinedBehaviourError(f"integer division {left} {op} 0")
    if op in ("<<", ">>") and not 0 <= right < dtype.bits:
        raise UndefinedBehaviourError(f"shift of {dtype} by {right}")
    exact = INTEGER_OPERATORS[op](left, right)
    result = wrap(exact, dtype)
    if result != exact and dtype.kind is Kind.SIGNED and op != "<<" and not wrap_signed:
        raise UndefinedBehaviourError(
            f"signed overflow in {dtype}: {left} {op} {right}",
            hint="use an unsigned or a wider type, or wrap_signed=True for the meaning of -fwrapv")
    return result


def divide_floats(left: float, right: float) -> float:
    """IEEE 754 division: by zero it is an infinity or not a number."""
    if right:
        return left / right
    if left == 0.0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def float_operation(op: str, left: float, right: float, dtype: DType) -> Number:
    """`left op right` for + - * / in a floating type."""
    if dtype == LONGDOUBLE:
        wide = WIDE_OPERATORS[op]
        with np.errstate(all="ignore"):
            return wide(np.longdouble(left), np.longdouble(right))
    result = divide_floats(left, right) if op == "/" else FLOAT_OPERATORS[op](left, right)
    return result if dtype == FLOAT64 else round_float(result, dtype)


def _floor_divide(left: int, right: int) -> int:
    if right == 0:
        raise UndefinedBehaviourError(f"integer division {left} // 0")
    return left // right


def _floor_modulo(left: int, right: int) -> int:
    return left - right * _floor_divide(left, right)


PYTHON_INTEGER_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": _floor_divide, "floormod": _floor_modulo,
}


def _leading_zeros(value: int, bits: int) -> int:
    if value == 0:
        raise UndefinedBehaviourError("the number of zeros in front of the first bit of 0",
                                      hint="GCC leaves this undefined (GCC 12 manual, section 6.59)")
    return bits - value.bit_length()


def _trailing_zeros(value: int, bits: int) -> int:
    if value == 0:
        raise UndefinedBehaviourError("the number of zeros behind the last bit of 0",
                                      hint="GCC leaves this undefined (GCC 12 manual, section 6.59)")
    return (value & -value).bit_length() - 1


_OF_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "clz": _leading_zeros, "ctz": _trailing_zeros, "parity": lambda value, bits: value.bit_count() & 1,
    "popcount": lambda value, bits: value.bit_count(),
}
_OF_SIGNED: dict[str, Callable[[int, int], int]] = {
    "clrsb": lambda value, bits: bits - 1 - (value if value >= 0 else ~value).bit_length(),
    "ffs": lambda value, bits: (value & -value).bit_length(),
}


_SWAPPED = {"bswap16": UINT16, "bswap32": UINT32, "bswap64": UINT64}


def _of_bits(name: str) -> tuple[Function, tuple[DType, ...]] | None:
    """GCC's functions of the bits of an integer (GCC 12 manual, section 6.59), by their names without `__builtin_`."""
    if name == "expect":
        return (lambda value, _: value), (INT64, INT64)
    if name in _SWAPPED:
        kind = _SWAPPED[name]
        return (lambda value: int.from_bytes(value.to_bytes(kind.bytes, "little"), "big")), (kind,)
    for table, short, long in ((_OF_UNSIGNED, UINT32, UINT64), (_OF_SIGNED, INT32, INT64)):
        base = name if name in table else name.rstrip("l")
        if base in table and name in (base, f"{base}l", f"{base}ll"):
            dtype = short if name == base else long
            return partial(_with_bits, table[base], dtype.bits), (dtype,)
    return None


def _with_bits(function: Callable[[int, int], int], bits: int, value: int) -> int:
    return function(value, bits)


@cache
def _libm() -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library("m"))


@cache
def math_function(name: str) -> tuple[Function, tuple[DType, ...]]:
    """A function of math.h or stdlib.h by its C name, with the types of its parameters.

    The double and float versions call the C library itself, so they give what compiled code gives.
    `floordiv` and `floormod` are Python's `//` and `%` on integers.
    """
    if name.startswith(BUILTIN) and name not in INFINITIES:
        return _of_bits(name.removeprefix(BUILTIN)) or math_function(name.removeprefix(BUILTIN))
    if name in PYTHON_INTEGER_FUNCTIONS:
        return PYTHON_INTEGER_FUNCTIONS[name], (INT64, INT64)
    if name in ("abs", "labs", "llabs"):
        return abs, (INT32 if name == "abs" else INT64,)
    if name in INFINITIES:
        return lambda: math.inf, ()
    for suffix, dtype in (("", FLOAT64), ("f", FLOAT32), ("l", LONGDOUBLE)):
        base = name.removesuffix(suffix) if name.endswith(suffix) else ""
        count = 1 if base in UNARY_MATH else 2 if base in BINARY_MATH else 0
        if not count:
            continue
        if dtype == LONGDOUBLE:
            return _longdouble_function(base), (dtype,) * count
        function = getattr(_libm(), name)
        kind = ctypes.c_float if dtype == FLOAT32 else ctypes.c_double
        function.restype, function.argtypes = kind, [kind] * count
        return function, (dtype,) * count
    raise UsageError(f"the interpreter does not know the function {name}",
                     hint=f"pass its meaning: functions={{{name!r}: ...}}")


def _longdouble_function(base: str) -> Function:
    function = getattr(np, LONGDOUBLE_MATH.get(base, base), None)
    if function is None:
        raise UsageError(f"the interpreter does not know the function {base}l")
    return lambda *arguments: np.longdouble(function(*arguments))
