"""Which values an integer expression of a text can have: what proves that sums do not wrap and subscripts stay inside.

Interval arithmetic (Moore 1966) on the types of C: where an operation may leave its type, the answer is that type's
whole range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, Select, Unary
from polysched.scop.dtypes import DType, usual_conversion
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS

Interval: TypeAlias = tuple[int, int]


def interval(e: Expr, extents: Mapping[str, int | str]) -> Interval | None:
    """The least and the greatest value; None for a float.

    Parameters
    ----------
    extents : of the iterators, which count from zero.
    """
    if not e.dtype.is_integer:
        return None
    return converted(unwrapped(e, extents), e.dtype)


def converted(values: Interval | None, dtype: DType) -> Interval:
    """After a conversion, which keeps what fits."""
    low, high = dtype.value_range()
    return values if values is not None and low <= values[0] and values[1] <= high else (low, high)


def wraps(values: Interval | None, dtype: DType) -> bool:
    """Whether a conversion may change a value."""
    return values is None or converted(values, dtype) != values


def unconverted(e: Expr) -> Expr:
    """An integer below conversions that keep its value."""
    while isinstance(e, Cast) and not wraps(interval(e.operand, {}), e.dtype):
        e = e.operand
    return e


def unwrapped(e: Expr, extents: Mapping[str, int | str]) -> Interval | None:
    """The values over numbers without width, of operands as they are in their own types; None where unknown."""
    match e:
        case Literal():
            return int(e.value), int(e.value)
        case IteratorRef():
            extent = extents.get(e.name)
            return (0, extent - 1) if isinstance(extent, int) else None
        case Cast():
            return interval(e.operand, extents)
        case Unary():
            return _unary(e, extents)
        case Select():
            sides = [converted(interval(x, extents), e.dtype) for x in (e.then, e.otherwise)]
            return min(s[0] for s in sides), max(s[1] for s in sides)
        case Binary():
            return _binary(e, extents)
        case Call() if e.function in FUNCTIONS:
            return FUNCTIONS[e.function].values or e.dtype.value_range()
        case Load() | Call():
            return e.dtype.value_range()
    return None


def _unary(e: Unary, extents: Mapping[str, int | str]) -> Interval | None:
    if e.op == "!":
        return 0, 1
    inner = interval(e.operand, extents)
    if inner is None:
        return None
    low, high = converted(inner, e.dtype)
    return {"-": (-high, -low), "~": (~high, ~low), "+": (low, high)}[e.op]


def _binary(e: Binary, extents: Mapping[str, int | str]) -> Interval | None:
    if e.op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
        return 0, 1
    left, right = interval(e.left, extents), interval(e.right, extents)
    if left is None or right is None:
        return None
    if e.op in ("<<", ">>"):
        return _shift(e.op, converted(left, e.dtype), right)
    common = usual_conversion(e.left.dtype, e.right.dtype)
    operation = _OPERATIONS.get(e.op)
    return None if operation is None else operation(converted(left, common), converted(right, common))


def _product(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _common_bits(a: Interval, b: Interval) -> Interval | None:
    """Of `&`: no more than the least of those that are not negative."""
    return (0, min(x[1] for x in (a, b) if x[0] >= 0)) if b[0] >= 0 or a[0] >= 0 else None


def _all_bits(a: Interval, b: Interval) -> Interval | None:
    """Of `|` and `^`."""
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


def _quotient(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    ends = [abs(x) // y * (1 if x >= 0 else -1) for x in a for y in b]
    return min(ends), max(ends)


def _remainder(a: Interval, b: Interval) -> Interval | None:
    return None if b[0] <= 0 else ((0 if a[0] >= 0 else max(a[0], 1 - b[1])), max(0, min(a[1], b[1] - 1)))


_OPERATIONS: Mapping[str, Callable[[Interval, Interval], Interval | None]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]), "-": lambda a, b: (a[0] - b[1], a[1] - b[0]), "*": _product,
    "&": _common_bits, "|": _all_bits, "^": _all_bits, "/": _quotient, "%": _remainder}
"""Operators on values of one type; None where nothing is known of the result."""


def _shift(op: str, value: Interval, amount: Interval) -> Interval | None:
    if amount[0] < 0 or amount[1] > 63:
        return None
    ends = [x << n if op == "<<" else x >> n for x in value for n in amount]
    return min(ends), max(ends)
