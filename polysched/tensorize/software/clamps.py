"""Saturation as programs write it: a minimum and a maximum with constants around a sum, in every spelling."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.scop.body import MIRRORED, Binary, Call, Cast, Expr, Literal, Load, Select, Unary, rebuild
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.equality.normal_form import widens


@dataclass(frozen=True)
class Clamp:
    """The least and the greatest value that is left; None where that side has no bound."""

    low: int | float | None
    high: int | float | None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"at most {self.high}" if self.low is None else f"at least {self.low}"
        return f"{self.low} .. {self.high}"


def without_clamp(update: Expr) -> tuple[Expr, Clamp | None]:
    """The sum inside `clamp(sum, low, high)`, in every spelling that nests a minimum and a maximum, or one of them.

    Bounds that the type of the sum cannot leave clamp nothing, which is proved: conversions inside and around may cut
    the sum, and comparisons may be of another type.  A clamp is what the update looks like, no proof that it is one.
    """
    inner: Expr = update
    bounds: dict[str, int | float] = {}
    for _ in range(4):
        while isinstance(inner, Cast):
            inner = inner.operand
        step = _extremum(inner)
        if step is None or step[0] in bounds:
            break
        kind, value, literal = step
        bounds[kind] = literal
        inner = value
    if not bounds:
        return update, None
    inside = plain(inner).dtype
    if inside.is_integer:
        least, greatest = inside.value_range()
        if bounds.get("max", least) <= least and greatest <= bounds.get("min", greatest):
            return (plain(inner), None) if _clamps_nothing(update, plain(inner)) else (update, None)
    return inner, Clamp(bounds.get("max"), bounds.get("min"))


def _clamps_nothing(update: Expr, inner: Expr) -> bool:
    """Whether the update is the sum inside it, whatever that is."""
    whole = of_any_sum(update, inner)
    anything = of_any_sum(inner, inner)
    return same_function(whole, anything if whole.dtype == inner.dtype else Cast(anything, whole.dtype)
                         ).verdict is Verdict.EQUAL


def of_any_sum(update: Expr, inner: Expr) -> Expr:
    """The update as a function of the sum inside it, which may have any value of its type."""
    anything = Load("the sum", inner.dtype)
    return rebuild(update, lambda e: anything if e == inner else e)


def plain(e: Expr) -> Expr:
    """Below conversions that keep every value."""
    while isinstance(e, Cast) and widens(e.operand.dtype, e.dtype):
        e = e.operand
    return e


def _extremum(e: Expr) -> tuple[str, Expr, int | float] | None:
    """`(min, x, c)` for a choice or call that is the smaller of x and the constant c; the same for max."""
    if isinstance(e, Call) and e.function in ("min", "max") and len(e.arguments) == 2:
        for x, c in (e.arguments, e.arguments[::-1]):
            if (value := _constant(c)) is not None:
                return e.function, x, value
    if not (isinstance(e, Select) and isinstance(e.condition, Binary) and e.condition.op in ("<", "<=", ">", ">=")):
        return None
    left, op, right = e.condition.left, e.condition.op, e.condition.right
    if _constant(left) is not None:
        left, right, op = right, left, MIRRORED[op]
    bound = _constant(right)
    if bound is None:
        return None
    for chosen, other, first in ((e.then, e.otherwise, True), (e.otherwise, e.then, False)):
        if _constant(chosen) == bound and _same_or_nested(other, left):
            literal_when = first == (op in ("<", "<="))
            return ("max" if literal_when else "min"), other, bound
    return None


def _same_or_nested(e: Expr, compared: Expr) -> bool:
    """`e` is the compared value, or a further clamp of it (`x > hi ? hi : x < lo ? lo : x`)."""
    while isinstance(e, Cast):
        e = e.operand
    while isinstance(compared, Cast):
        compared = compared.operand
    if e == compared:
        return True
    nested = _extremum(e)
    return nested is not None and _same_or_nested(nested[1], compared)


def _constant(e: Expr) -> int | float | None:
    if isinstance(e, Cast):
        return _constant(e.operand)
    if isinstance(e, Literal):
        return e.value
    if isinstance(e, Unary) and e.op == "-":
        inner = _constant(e.operand)
        return None if inner is None else -inner
    if isinstance(e, Binary) and e.op in ("+", "-"):
        left, right = _constant(e.left), _constant(e.right)
        return None if left is None or right is None else left + right if e.op == "+" else left - right
    return None
