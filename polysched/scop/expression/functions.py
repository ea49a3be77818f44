"""Functions on scalar expressions: reductions, conditions, mathematical functions.

The names `sum`, `max` and `min` are the language's own; import them by name where a stage is described.
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.scop.dtypes import DType
from polysched.scop.expression.tensors import (
    Axis,
    Conditional,
    Function,
    Operation,
    Reduction,
    Scalar,
    as_dtype,
    as_expression,
)


def _reduction(kind: str, value: Scalar, over: Axis | Sequence[Axis], dtype: str | DType | None) -> Reduction:
    axes = (over,) if isinstance(over, Axis) else tuple(over)
    return Reduction(kind, as_expression(value), axes, None if dtype is None else as_dtype(dtype))


def sum(value: Scalar, *, over: Axis | Sequence[Axis], dtype: str | DType | None = None) -> Reduction:
    """The sum over axes, accumulated in `dtype` (the type of the value by default)."""
    return _reduction("sum", value, over, dtype)


def prod(value: Scalar, *, over: Axis | Sequence[Axis], dtype: str | DType | None = None) -> Reduction:
    """The product over axes, accumulated in `dtype` (the type of the value by default)."""
    return _reduction("prod", value, over, dtype)


def max(value: Scalar, *, over: Axis | Sequence[Axis], propagate_nan: bool = False) -> Reduction:
    """The largest value over axes; the type's least value (minus infinity) over none.

    NaNs are passed over; with `propagate_nan` they are the result, as NumPy has it.
    """
    return _reduction("maximum" if propagate_nan else "max", value, over, None)


def min(value: Scalar, *, over: Axis | Sequence[Axis], propagate_nan: bool = False) -> Reduction:
    """The smallest value over axes; the type's largest value (infinity) over none.

    NaNs are passed over; with `propagate_nan` they are the result, as NumPy has it.
    """
    return _reduction("minimum" if propagate_nan else "min", value, over, None)


def argmax(value: Scalar, *, over: Axis | Sequence[Axis], propagate_nan: bool = False) -> Reduction:
    """The first position (int64, row-major over several axes) of the largest value; 0 over none.

    NaNs are passed over; with `propagate_nan` the first of them has the position, as NumPy has it.
    """
    return _reduction("argmaximum" if propagate_nan else "argmax", value, over, None)


def argmin(value: Scalar, *, over: Axis | Sequence[Axis], propagate_nan: bool = False) -> Reduction:
    """The first position (int64, row-major over several axes) of the smallest value; 0 over none.

    NaNs are passed over; with `propagate_nan` the first of them has the position, as NumPy has it.
    """
    return _reduction("argminimum" if propagate_nan else "argmin", value, over, None)


def where(condition: Scalar, then: Scalar, otherwise: Scalar) -> Conditional:
    """`then` where the condition holds, else `otherwise`; only the chosen side is read, so it pads."""
    return Conditional(as_expression(condition), as_expression(then), as_expression(otherwise))


def equal(left: Scalar, right: Scalar) -> Operation:
    """`left == right`."""
    return Operation("==", (as_expression(left), as_expression(right)))


def not_equal(left: Scalar, right: Scalar) -> Operation:
    """`left != right`."""
    return Operation("!=", (as_expression(left), as_expression(right)))


def minimum(left: Scalar, right: Scalar) -> Function:
    """The smaller of two values; also of indices and sizes."""
    return Function("min", (as_expression(left), as_expression(right)))


def maximum(left: Scalar, right: Scalar) -> Function:
    """The larger of two values; also of indices and sizes."""
    return Function("max", (as_expression(left), as_expression(right)))


def absolute(value: Scalar) -> Function:
    """The absolute value."""
    return Function("abs", (as_expression(value),))


def math_function(name: str, *arguments: Scalar) -> Function:
    """A function of math.h by its name (`exp`, `sqrt`, `tanh`, `erf`, `pow`, ...), in the type of its arguments."""
    return Function(name, tuple(as_expression(a) for a in arguments))


def exp(value: Scalar) -> Function:
    """e to the power of the value."""
    return math_function("exp", value)


def log(value: Scalar) -> Function:
    """The natural logarithm."""
    return math_function("log", value)


def sqrt(value: Scalar) -> Function:
    """The square root."""
    return math_function("sqrt", value)


def tanh(value: Scalar) -> Function:
    """The hyperbolic tangent."""
    return math_function("tanh", value)


def erf(value: Scalar) -> Function:
    """The error function."""
    return math_function("erf", value)
