"""Bodies over numbers without rounding or width: what an update computes ideally, as a normal form."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary, rebuild
from polysched.scop.dtypes import FLOAT64
from polysched.tensorize.equality.normal_form import Form, Normaliser
from polysched.tensorize.intrinsic import Intrinsic


def ideal_text(update: Expr, given: Mapping[str, Expr]) -> str | None:
    """The text of `ideal_form`."""
    form = ideal_form(update, given)
    return None if form is None else form.text()


def accumulates_sum(intrinsic: Intrinsic) -> bool:
    """Whether the ideal update is the old value plus something that does not depend on it."""
    contraction = intrinsic.contraction
    form = ideal_form(contraction.update, {})
    old = str(contraction.output)
    return form is not None and [(m, c) for m, c in form.terms if old in m] == [((old,), Fraction(1))]


def ideal_form(update: Expr, given: Mapping[str, Expr]) -> Form | None:
    """Normal form over the rationals: every type replaced by an unbounded one; None outside sums, products, choices."""
    def widened(e: Expr) -> Expr:
        match e:
            case Load() if e.reference in given:
                return given[e.reference]
            case Cast():
                return e.operand
        return e

    def typed(e: Expr) -> Expr:
        match e:
            case Load():
                return Load(e.reference, FLOAT64)
            case Literal():
                return Literal(e.text, e.value, FLOAT64)
            case Unary():
                return Unary(e.op, e.operand, FLOAT64)
            case Binary():
                return Binary(e.op, e.left, e.right, FLOAT64)
            case Select():
                return Select(e.condition, e.then, e.otherwise, FLOAT64)
            case Call():
                return Call(e.function, e.arguments, FLOAT64)
            case Cast():
                return e.operand
        return e

    substituted = rebuild(update, widened)
    try:
        return Normaliser().form(rebuild(substituted, typed))
    except (TypeError, OverflowError):
        return None
