"""Floor division, remainders, powers, absolute values and calls of mathematical functions on values."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from polysched.scop.body import Binary, Call, Cast, Expr, Select, Unary
from polysched.scop.construction.promotion import computation_type, function_type, result_type
from polysched.scop.construction.values import (
    CannotExpress,
    Value,
    affine_constant,
    arithmetic,
    as_type,
    cast,
    compare,
    constant_of,
    converted,
    divide,
    float_literal,
    integer_literal,
    logical,
    logical_not,
    narrowed,
    negate,
    number,
    select,
)
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, LONGDOUBLE, DType

# NumPy's and Python's names of the functions that math.h has under another name.
C_NAMES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "power": "pow", "rint": "rint", "trunc": "trunc", "fabs": "fabs",
}
ONE_ARGUMENT = frozenset({
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "floor", "ceil",
    "trunc", "rint", "fabs",
})
TWO_ARGUMENTS = frozenset({"pow", "atan2", "hypot", "fmod", "copysign", "fmin", "fmax"})


def call(function: str, arguments: tuple[Value, ...], *, dtype: DType | None = None, weak: bool = False) -> Value:
    """A call of a function of math.h, in float's, double's or long double's version.

    Parameters
    ----------
    function : the name in math.h or in NumPy.
    dtype : the type of the result; by default NumPy's for the arguments.
    weak : the result is a Python float, as with Python's `math`.
    """
    name = C_NAMES.get(function, function)
    wanted = 1 if name in ONE_ARGUMENT else 2 if name in TWO_ARGUMENTS else 0
    if wanted == 0:
        raise CannotExpress(f"{function} is no function of math.h")
    if len(arguments) != wanted:
        raise CannotExpress(f"{function} takes {wanted} argument{'s' * (wanted > 1)}, not {len(arguments)}")
    if dtype is None:
        common, common_weak = arguments[0].dtype, arguments[0].weak
        for other in arguments[1:]:
            common, common_weak = result_type(common, common_weak, other.dtype, other.weak)
        dtype, weak = function_type(function, common, common_weak), common_weak
    inner = computation_type(dtype, name)
    suffix = {FLOAT32: "f", FLOAT64: "", LONGDOUBLE: "l"}[inner]
    operands = tuple(as_type(argument, dtype, name) for argument in arguments)
    return Value(narrowed(Call(name + suffix, operands, inner), dtype), dtype, weak)


def floor_divide(left: Value, right: Value) -> Value:
    """`left // right`: rounded towards minus infinity."""
    x, y = constant_of(left), constant_of(right)
    if left.weak and right.weak and x is not None and y:
        return number(x // y)
    dtype, weak = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if dtype.is_float:
        return _in_single(_float_quotient, left, right, dtype)
    dtype = _counting(dtype, weak)
    expr = _floor_quotient(left, right, dtype)
    return Value(narrowed(expr, dtype), dtype, weak, _affine_floor(left, right) if weak or dtype == INT64 else None)


def ceil_divide(left: Value, right: Value) -> Value:
    """The quotient rounded towards plus infinity; no sign is turned around on data, where the smallest has no other."""
    if left.affine is not None:
        return negate(floor_divide(negate(left), right))
    floor = floor_divide(left, right)
    return arithmetic("+", floor, cast(compare("!=", modulo(left, right), cast(number(0), right.dtype)), floor.dtype))


def reciprocal_root(value: Value) -> Value:
    """`1 / sqrt(value)`, of floats."""
    root = call("sqrt", (value,))
    return divide(Value(float_literal(1.0, root.dtype), root.dtype), root)


def modulo(left: Value, right: Value) -> Value:
    """`left % right`: the sign is the divisor's."""
    x, y = constant_of(left), constant_of(right)
    if left.weak and right.weak and x is not None and y:
        return number(x % y)
    dtype, weak = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if dtype.is_float:
        return _in_single(_float_remainder, left, right, dtype)
    dtype = _counting(dtype, weak)
    expr = _floor_remainder(left, right, dtype)
    affine = None
    quotient = _affine_floor(left, right) if weak or dtype == INT64 else None
    if quotient is not None and left.affine is not None and right.affine is not None:
        affine = left.affine.sub(quotient.mul(right.affine))
    return Value(narrowed(expr, dtype), dtype, weak, affine)


def truncated_quotient(left: Value, right: Value) -> Value:
    """The quotient of integers as C has it: rounded towards zero."""
    return _in_c("/", left, right)


def truncated_remainder(left: Value, right: Value) -> Value:
    """The remainder of integers as C has it: the sign is the dividend's."""
    return _in_c("%", left, right)


def _in_c(op: str, left: Value, right: Value) -> Value:
    dtype, weak = result_type(left.dtype, left.weak, right.dtype, right.weak)
    dtype = _counting(dtype, weak)
    expr = Binary(op, as_type(left, dtype, op), as_type(right, dtype, op), computation_type(dtype, op))
    return Value(narrowed(expr, dtype), dtype, weak)


def _counting(dtype: DType, weak: bool) -> DType:
    """The type in which truth values are divided: Python's int, or NumPy's shortest."""
    return dtype if dtype != BOOL else INT64 if weak else INT8


def _in_single(function: Callable[[Value, Value], Value], left: Value, right: Value, dtype: DType) -> Value:
    """A function of floats; of short ones computed in single precision and rounded once, as NumPy does."""
    if dtype not in (FLOAT16, BFLOAT16):
        return function(left, right)
    return cast(function(*(cast(cast(value, dtype), FLOAT32) for value in (left, right))), dtype)


def _float_quotient(left: Value, right: Value) -> Value:
    """The whole number nearest below the quotient, by way of the exact remainder.

    Source: CPython, Objects/floatobject.c, `_float_div_mod`; NumPy's `npy_divmod` is the same, but for a divisor of 0.
    """
    exact = divide(arithmetic("-", left, _c_remainder(left, right)), right)
    quotient = arithmetic("-", exact, select(_signs_differ(left, right), number(1.0), number(0.0)))
    whole = call("floor", (quotient,))
    above = compare(">", arithmetic("-", quotient, whole), number(0.5))
    rounded = arithmetic("+", whole, select(above, number(1.0), number(0.0)))
    zero = call("copysign", (number(0.0), divide(left, right)))
    result = select(compare("!=", quotient, number(0.0)), rounded, zero)
    if constant_of(right):
        return result
    return select(compare("==", right, number(0.0)), divide(left, right), result)


def _float_remainder(left: Value, right: Value) -> Value:
    remainder = _c_remainder(left, right)
    other = select(_signs_differ(left, right), arithmetic("+", remainder, right), remainder)
    return select(compare("!=", remainder, number(0.0)), other, call("copysign", (number(0.0), right)))


def _affine_floor(left: Value, right: Value) -> isl.PwAff | None:
    divisor = constant_of(right)
    if left.affine is None or not isinstance(divisor, int) or divisor == 0:
        return None
    numerator = left.affine if divisor > 0 else left.affine.neg()
    return numerator.div(affine_constant(abs(divisor))).floor()


def _c_remainder(left: Value, right: Value) -> Value:
    return call("fmod", (left, right))


def _signs_differ(left: Value, right: Value) -> Value:
    """Whether the C remainder is not zero and has another sign than the divisor."""
    remainder = _c_remainder(left, right)
    negative = compare("!=", compare("<", remainder, number(0.0)), compare("<", right, number(0.0)))
    nonzero = compare("!=", remainder, number(0.0))
    return select(nonzero, negative, number(False))


def _operands(left: Value, right: Value, dtype: DType) -> tuple[Expr, Expr, DType]:
    return as_type(left, dtype, "/"), as_type(right, dtype, "/"), computation_type(dtype, "/")


def _needs_correction(a: Expr, b: Expr, inner: DType, divisor: int | float | None) -> Expr:
    """Whether truncation differs from flooring: the remainder is not zero and has another sign than the divisor."""
    remainder = Binary("%", a, b, inner)
    zero = integer_literal(0, inner)
    if divisor is not None:
        return Binary("<" if divisor > 0 else ">", remainder, zero, INT32)
    differ = Binary("!=", Binary("<", remainder, zero, INT32), Binary("<", b, zero, INT32), INT32)
    return Binary("&&", Binary("!=", remainder, zero, INT32), differ, INT32)


def _floor_quotient(left: Value, right: Value, dtype: DType) -> Expr:
    a, b, inner = _operands(left, right, dtype)
    quotient = Binary("/", a, b, inner)
    if not inner.is_signed:
        return quotient
    return Binary("-", quotient, _needs_correction(a, b, inner, constant_of(right)), inner)


def _floor_remainder(left: Value, right: Value, dtype: DType) -> Expr:
    a, b, inner = _operands(left, right, dtype)
    remainder = Binary("%", a, b, inner)
    if not inner.is_signed:
        return remainder
    correction = Select(_needs_correction(a, b, inner, constant_of(right)), b, integer_literal(0, inner), inner)
    return Binary("+", remainder, correction, inner)


def power(base: Value, exponent: Value) -> Value:
    """`base ** exponent`: products for small whole exponents, `pow` otherwise."""
    x, y = constant_of(base), constant_of(exponent)
    if base.weak and exponent.weak and x is not None and y is not None and (x or y > 0):
        result = x ** y
        if isinstance(result, complex):
            raise CannotExpress("a power of a negative number is complex")
        return number(result)
    dtype, _ = result_type(base.dtype, base.weak, exponent.dtype, exponent.weak)
    if (isinstance(y, int) and 0 <= y <= 4) or (isinstance(y, float) and y == 2.0 and dtype == base.dtype):
        return _repeated_product(base, int(y))
    if dtype.is_integer:
        raise CannotExpress("an integer power whose exponent is not a small constant",
                            "convert the base to a floating type")
    if y == 0.5:
        return call("sqrt", (base,))
    return call("pow", (base, exponent))


def _repeated_product(base: Value, exponent: int) -> Value:
    if exponent == 0:
        one = number(1.0 if base.dtype.is_float else 1)
        return one if base.weak else Value(converted(one, base.dtype), base.dtype)
    half = base
    for _ in range(exponent - 1):
        half = arithmetic("*", half, base)
    return half


def absolute(value: Value) -> Value:
    """`abs(value)`."""
    constant = constant_of(value)
    if value.weak and constant is not None:
        return number(abs(constant))
    if value.dtype.is_float:
        return call("fabs", (value,), dtype=value.dtype, weak=value.weak)
    if not value.dtype.is_signed:
        return value
    result = select(compare("<", value, number(0)), negate(value), value)
    if value.affine is not None:
        return Value(result.expr, result.dtype, result.weak, value.affine.max(value.affine.neg()))
    return result


def bitwise(op: str, left: Value, right: Value) -> Value:
    """`&`, `|`, `^`, `<<`, `>>` of integers; of truth values the logical operation."""
    if left.dtype == right.dtype == BOOL:
        if op in ("<<", ">>"):
            raise CannotExpress("a shift of booleans")
        if op == "^":
            return compare("!=", left, right)
        return logical_of(op, left, right)
    dtype, weak = result_type(left.dtype, left.weak, right.dtype, right.weak)
    if dtype.is_float:
        raise CannotExpress(f"`{op}` of floating-point values")
    if op == "<<" and weak and isinstance(amount := constant_of(right), int) and 0 <= amount < 63:
        return arithmetic("*", left, number(1 << amount))
    if op == ">>" and weak and isinstance(amount := constant_of(right), int) and 0 <= amount < 63:
        return floor_divide(left, number(1 << amount))
    expr = Binary(op, as_type(left, dtype, op), as_type(right, dtype, op), computation_type(dtype, op))
    return Value(narrowed(expr, dtype), dtype, weak)


def logical_of(op: str, left: Value, right: Value) -> Value:
    """`&` and `|` of truth values, which evaluate both sides; the sides are pure, so that shows nowhere."""
    return logical("&&" if op == "&" else "||", left, right)


def invert(value: Value) -> Value:
    """`~value` of an integer; `not` of a NumPy truth value."""
    if value.dtype == BOOL:
        return logical_not(value)
    if value.dtype.is_float:
        raise CannotExpress("`~` of a floating-point value")
    inner = computation_type(value.dtype, "~")
    affine = None if value.affine is None else value.affine.neg().sub(affine_constant(1))
    return Value(narrowed(Unary("~", as_type(value, value.dtype, "~"), inner), value.dtype), value.dtype, value.weak,
                 affine)


def infinity(dtype: DType, sign: int) -> Expr:
    """The neutral element of max (`sign` -1) or min (`sign` 1): an infinity, or the end of an integer's range."""
    if dtype.is_float:
        return float_literal(sign * float("inf"), dtype)
    least, largest = dtype.value_range()
    value = largest if sign > 0 else least
    if dtype == BOOL or dtype.bits < 32:
        return Cast(integer_literal(value, INT32), dtype)
    return integer_literal(value, dtype)
