"""The elementwise functions that a kernel may call, as tables keyed by the function objects themselves.

An alias or a star import therefore means the same as the full name.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from polysched.scop.body import Call, Cast
from polysched.scop.construction import divisions, functions, values
from polysched.scop.construction.promotion import result_type
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, FLOAT64, INT8, INT64


def _numpy_function(name: str) -> Callable[..., Value]:
    return lambda *arguments: functions.call(name, arguments)


def _same_for_integers(name: str) -> Callable[[Value], Value]:
    """`floor`, `ceil`, `trunc` of an integer array keep its type."""
    return lambda value: value if value.dtype.is_integer and not value.weak else functions.call(name, (value,))


def _is_nan(value: Value) -> Value:
    return values.compare("!=", value, value)


def _of_integers_or_floats(name: str, of_integers: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    """A function of math.h, which of integers is one of integers."""
    if result_type(left.dtype, left.weak, right.dtype, right.weak)[0].is_integer:
        return of_integers(left, right)
    return functions.call(name, (left, right))


def _counted(value: Value) -> Value:
    """A truth value as the integer that NumPy computes with."""
    return values.cast(value, INT8) if value.dtype == BOOL else value


def _reciprocal(value: Value) -> Value:
    """1 / x, of an integer in its own type and towards zero."""
    counted = _counted(value)
    if not counted.dtype.is_integer:
        return values.divide(values.number(1), counted)
    return divisions.truncated_quotient(values.cast(values.number(1), counted.dtype), counted)


def _sign(value: Value) -> Value:
    if value.dtype == BOOL:
        raise CannotExpress("NumPy has no sign of booleans")
    zero, one = values.cast(values.number(0), value.dtype), values.cast(values.number(1), value.dtype)
    other = values.select(values.compare("==", value, zero), zero, value) if value.dtype.is_float else value   # -0, NaN
    below = values.select(values.compare("<", value, zero), values.negate(one), other)
    return values.select(values.compare(">", value, zero), one, below)


UFUNC_NAMES = ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
               "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "fabs", "arctan2", "hypot",
               "copysign", "rint")

ELEMENTWISE: dict[Any, Callable[..., Value]] = {
    **{getattr(np, name): _numpy_function(name) for name in UFUNC_NAMES},
    **{getattr(np, name): _same_for_integers(name) for name in ("floor", "ceil", "trunc")},
    np.fmod: lambda a, b: _of_integers_or_floats("fmod", divisions.truncated_remainder, a, b),
    np.fmin: lambda a, b: _of_integers_or_floats("fmin", partial(values.extremum, "min"), a, b),
    np.fmax: lambda a, b: _of_integers_or_floats("fmax", partial(values.extremum, "max"), a, b),
    np.add: lambda a, b: values.arithmetic("+", a, b),
    np.subtract: lambda a, b: values.arithmetic("-", a, b),
    np.multiply: lambda a, b: values.arithmetic("*", a, b),
    np.divide: values.divide,
    np.floor_divide: divisions.floor_divide,
    np.mod: divisions.modulo,
    np.power: functions.power,
    np.negative: values.negate,
    np.square: lambda a: values.arithmetic("*", _counted(a), _counted(a)),
    np.reciprocal: _reciprocal,
    np.absolute: functions.absolute,
    builtins.abs: functions.absolute,
    builtins.pow: functions.power,
    np.sign: _sign,
    np.maximum: lambda a, b: values.extremum("max", a, b, propagate_nan=True),
    np.minimum: lambda a, b: values.extremum("min", a, b, propagate_nan=True),
    np.clip: lambda a, low, high: values.extremum(
        "min", values.extremum("max", a, low, propagate_nan=True), high, propagate_nan=True),
    np.where: values.select,
    np.isnan: _is_nan,
    np.logical_and: lambda a, b: values.logical("&&", a, b),
    np.logical_or: lambda a, b: values.logical("||", a, b),
    np.logical_xor: lambda a, b: values.compare("!=", values.truth(a), values.truth(b)),
    np.logical_not: values.logical_not,
    np.bitwise_and: lambda a, b: functions.bitwise("&", a, b),
    np.bitwise_or: lambda a, b: functions.bitwise("|", a, b),
    np.bitwise_xor: lambda a, b: functions.bitwise("^", a, b),
    np.left_shift: lambda a, b: functions.bitwise("<<", a, b),
    np.right_shift: lambda a, b: functions.bitwise(">>", a, b),
    np.invert: functions.invert,
    **{getattr(np, name): (lambda a, b, op=op: values.compare(op, a, b)) for name, op in (
        ("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">="), ("equal", "=="),
        ("not_equal", "!="))},
}


def _python_float(value: Value) -> Value:
    return value if value.weak and value.dtype == FLOAT64 else replace(values.cast(value, FLOAT64), weak=True)


def _python_int(value: Value) -> Value:
    """`int(x)`: towards zero; of an integer the same number."""
    constant = values.constant_of(value)
    if value.weak and constant is not None:
        return values.number(int(constant))
    if value.dtype.is_integer and value.dtype != BOOL:
        return replace(values.cast(value, INT64), weak=True, affine=value.affine)
    return Value(values.converted(value, INT64), INT64, True)


def _rounded_to_int(name: str) -> Callable[[Value], Value]:
    """`math.floor` and the like: a Python int."""
    def function(value: Value) -> Value:
        if value.dtype.is_integer:
            return _python_int(value)
        return Value(Cast(Call(name, (values.converted(value, FLOAT64),), FLOAT64), INT64), INT64, True)
    return function


def _math_function(name: str) -> Callable[..., Value]:
    return lambda *arguments: functions.call(name, arguments, dtype=FLOAT64, weak=True)


MATH_NAMES = ("sqrt", "cbrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
              "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "fabs",
              "pow", "atan2", "hypot", "fmod", "copysign", "log")

SCALAR: dict[Any, Callable[..., Value]] = {
    **{getattr(math, name): _math_function(name) for name in MATH_NAMES if hasattr(math, name)},
    **{getattr(math, name): _rounded_to_int(name) for name in ("floor", "ceil", "trunc")},
    math.isnan: _is_nan,
    builtins.round: _rounded_to_int("rint"),
    builtins.float: _python_float,
    builtins.int: _python_int,
    builtins.bool: lambda value: replace(values.truth(value), weak=True),
}
