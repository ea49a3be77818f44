"""Evaluating an expression on NumPy vectors, with C's conversions and wrapping integers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, ParameterRef, Select, Unary
from polysched.scop.dtypes import DType, usual_conversion

Vector = npt.NDArray[np.generic]
_COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
                "==": np.equal, "!=": np.not_equal}
_CALLS = {"fmax": np.fmax, "fmaxf": np.fmax, "fmin": np.fmin, "fminf": np.fmin, "max": np.maximum, "min": np.minimum,
          "abs": np.abs, "fabs": np.abs, "fabsf": np.abs}


class NotEvaluable(Exception):
    """The expression holds something that has no vector form here; the ladder goes on without evaluating."""


def evaluate(e: Expr, values: Mapping[str, Vector]) -> Vector:
    """The value of `e` for every row of the input vectors.

    Raises
    ------
    NotEvaluable : a function or type without a NumPy counterpart, or a division by what may be zero.
    """
    with np.errstate(all="ignore"):
        return _value(e, values)


def numpy_dtype(dtype: DType) -> np.dtype[np.generic]:
    """NumPy's type of the same name."""
    if dtype.name in ("bfloat16", "longdouble"):
        raise NotEvaluable(f"NumPy has no {dtype.name}")
    return np.dtype(dtype.name)


def _value(e: Expr, values: Mapping[str, Vector]) -> Vector:
    match e:
        case Literal():
            return np.asarray(e.value).astype(numpy_dtype(e.dtype))
        case Load():
            return values[e.reference]
        case IteratorRef() | ParameterRef():
            return values[e.name]
        case Cast():
            return _converted(_value(e.operand, values), e.dtype)
        case Unary():
            inner = _converted(_value(e.operand, values), e.dtype)
            if e.op == "!":
                return _converted(np.equal(_value(e.operand, values), 0), e.dtype)
            return {"-": np.negative, "+": np.positive, "~": np.invert}[e.op](inner)
        case Select():
            chosen = np.not_equal(_value(e.condition, values), 0)
            then, other = (_converted(_value(x, values), e.dtype) for x in (e.then, e.otherwise))
            return np.where(chosen, then, other)
        case Call() if e.function in _CALLS:
            arguments = [_converted(_value(a, values), e.dtype) for a in e.arguments]
            return np.asarray(_CALLS[e.function](*arguments))
        case Binary():
            return _operation(e, values)
    raise NotEvaluable(f"no vector form of {e}")


def _operation(e: Binary, values: Mapping[str, Vector]) -> Vector:
    left, right = _value(e.left, values), _value(e.right, values)
    if e.op in _COMPARISONS:
        common = usual_conversion(e.left.dtype, e.right.dtype)
        return _converted(_COMPARISONS[e.op](_converted(left, common), _converted(right, common)), e.dtype)
    if e.op in ("&&", "||"):
        a, b = np.not_equal(left, 0), np.not_equal(right, 0)
        return _converted(a & b if e.op == "&&" else a | b, e.dtype)
    if e.op in ("<<", ">>"):
        a, amount = _converted(left, e.dtype), _converted(right, e.dtype)
        return np.left_shift(a, amount) if e.op == "<<" else np.right_shift(a, amount)
    if e.op in ("/", "%") and e.dtype.is_integer and isinstance(e.right, Literal) and e.right.value > 0:
        return _divided(_converted(left, e.dtype), _converted(right, e.dtype), e.op)
    operator = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
                "^": np.bitwise_xor}.get(e.op)
    if operator is None:
        raise NotEvaluable(f"{e.op} may be undefined")
    return np.asarray(operator(_converted(left, e.dtype), _converted(right, e.dtype)))


def _divided(a: Vector, b: Vector, op: str) -> Vector:
    """Quotient or remainder by a positive number, rounded towards zero as in C."""
    quotient = np.floor_divide(a, b)
    rest = np.subtract(a, np.multiply(quotient, b))
    up = np.logical_and(np.not_equal(rest, 0), np.less(a, 0))
    if op == "/":
        return np.asarray(np.add(quotient, up.astype(quotient.dtype)))
    return np.asarray(np.where(up, np.subtract(rest, b), rest))


def _converted(value: Vector, dtype: DType) -> Vector:
    return np.asarray(value).astype(numpy_dtype(dtype))
