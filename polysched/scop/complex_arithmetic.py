"""C's arithmetic on complex numbers as gcc computes it, one value at a time; everything real goes to `c_arithmetic`.

A number is a Python complex whose parts are values of the narrow type.  A real operand is never made complex but where
it is divided by a complex one: `2.0 * z` is (2.0 * x, 2.0 * y), where a product of complex numbers adds 0.0 * y, which
is no number for an infinite y.

Source: C11, annex G.5.1, with the multiplication of its first example; libgcc's __muldc3 is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from polysched.errors import UsageError
from polysched.scop import c_arithmetic
from polysched.scop.c_arithmetic import float_operation, math_function
from polysched.scop.dtypes import BOOL, CLONGDOUBLE, COMPLEX64, COMPLEX128, DType, part_of

Value: TypeAlias = Any
"""A number as `c_arithmetic` has it, or a complex one."""


def convert(value: Value, dtype: DType) -> Value:
    """Conversion of any value to a type (C11 6.3.1); a complex number loses its imaginary part (6.3.1.7)."""
    if dtype.is_complex:
        if dtype == CLONGDOUBLE:
            raise UsageError(f"the interpreter has no numbers of type {dtype.c_name}", hint="use double _Complex")
        part, z = part_of(dtype), value if isinstance(value, complex) else None
        return complex(c_arithmetic.convert(value if z is None else z.real, part),
                       0.0 if z is None else c_arithmetic.convert(z.imag, part))
    if isinstance(value, complex):
        return int(value != 0) if dtype == BOOL else c_arithmetic.convert(value.real, dtype)
    return c_arithmetic.convert(value, dtype)


def complex_operation(op: str, left: Value, right: Value, dtype: DType) -> complex:
    """`left op right` for + - * / of which one operand at least is complex, the other a number of the parts' type.

    Raises
    ------
    UsageError : the division by a complex number, which compilers do in several ways.
    """
    part = part_of(dtype)

    def real(operator: str, x: float, y: float) -> float:
        return float(float_operation(operator, x, y, part))

    match left, right:
        case complex(), complex() if op in ("+", "-"):
            return complex(real(op, left.real, right.real), real(op, left.imag, right.imag))
        case complex(), complex() if op == "*":
            return _product(left, right, real)
        case complex(), float() if op in ("+", "-"):
            return complex(real(op, left.real, right), left.imag)
        case complex(), float():
            return complex(real(op, left.real, right), real(op, left.imag, right))
        case float(), complex() if op in ("+", "-"):
            return complex(real(op, left, right.real), right.imag if op == "+" else -right.imag)
        case float(), complex() if op == "*":
            return complex(real(op, left, right.real), real(op, left, right.imag))
        case _:
            raise UsageError("the interpreter does not divide by complex numbers", hint="divide by a real one")


def _product(left: complex, right: complex, real: Callable[[str, float, float], float]) -> complex:
    a, b, c, d = left.real, left.imag, right.real, right.imag
    x = real("-", real("*", a, c), real("*", b, d))
    y = real("+", real("*", a, d), real("*", b, c))
    if not (math.isnan(x) and math.isnan(y)):
        return complex(x, y)
    recover = False
    if math.isinf(a) or math.isinf(b):   # "box" the infinity, and a NaN of the other factor is a zero
        a, b = _boxed(a), _boxed(b)
        c, d = _zero_for_nan(c), _zero_for_nan(d)
        recover = True
    if math.isinf(c) or math.isinf(d):
        c, d = _boxed(c), _boxed(d)
        a, b = _zero_for_nan(a), _zero_for_nan(b)
        recover = True
    if not recover and any(math.isinf(real("*", u, v)) for u, v in ((a, c), (b, d), (a, d), (b, c))):
        a, b, c, d = map(_zero_for_nan, (a, b, c, d))   # the infinity of an overflow
        recover = True
    if not recover:
        return complex(x, y)
    return complex(math.inf * (a * c - b * d), math.inf * (a * d + b * c))


def _boxed(value: float) -> float:
    return math.copysign(1.0 if math.isinf(value) else 0.0, value)


def _zero_for_nan(value: float) -> float:
    return math.copysign(0.0, value) if math.isnan(value) else value


def complex_function(name: str) -> tuple[Callable[..., Value], tuple[DType, ...]]:
    """A function of complex.h or of math.h by its C name, with the types of its parameters.

    Raises
    ------
    UsageError : it is none that the interpreter knows.
    """
    for suffix, whole in (("", COMPLEX128), ("f", COMPLEX64)):
        found = _functions(suffix)
        if name in found:
            return found[name], (whole,)
    return math_function(name)


def _functions(suffix: str) -> dict[str, Callable[[complex], Value]]:
    """The functions of one complex type, whose absolute values and angles are those of math.h."""
    size, angle = (math_function(name + suffix)[0] for name in ("hypot", "atan2"))
    return {f"creal{suffix}": lambda z: z.real, f"cimag{suffix}": lambda z: z.imag,
            f"conj{suffix}": lambda z: z.conjugate(), f"cabs{suffix}": lambda z: size(z.real, z.imag),
            f"carg{suffix}": lambda z: angle(z.imag, z.real)}
