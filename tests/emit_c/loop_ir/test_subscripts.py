"""Which subscripts are linear forms of loop variables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polysched.emit_c.loop_ir.index import constant, source_operation, variable
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.scop.body import Cast, Expr, Load, Unary
from polysched.scop.dtypes import INT32, INT64, UINT8, UINT32
from tests.emit_c.small_scops import it, num, op, par

I_, J, N = variable("c0"), variable("c1"), variable("n")
AT = {"i": I_, "j": J + 1}
i, j, n = it("i"), it("j"), par("n")


@pytest.mark.parametrize(("expression", "form"), [
    (num(3), constant(3)),
    (op("+", op("*", num(2), i), j), I_ * 2 + J + 1),
    (op("-", n, j), N - J - 1),
    (Unary("-", i, INT32), I_ * -1),
    (op("*", i, num(4)), I_ * 4),
    (Cast(i, INT64), I_),
    (op("/", i, num(2)), source_operation("/", I_, 2)),
    (op("&", i, num(7)), source_operation("&", I_, 7)),
    (op(">>", op("+", i, j), num(3)), source_operation(">>", I_ + J + 1, 3)),
])
def test_forms(expression: Expr, form) -> None:
    assert linear_form(expression, AT) == form


@pytest.mark.parametrize("expression", [
    op("*", i, n),                                    # a product of two variables
    op("&", i, num(6)),                               # no run of low bits
    op("/", i, num(-2)),
    op("+", i, op("%", i, num(3))),                   # its coefficient would not tell how it moves
    it("k"),                                          # unknown here
    Load("S0_r0", INT32),
    Cast(i, UINT8),                                   # may wrap around
    op("+", it("i", UINT32), it("j", UINT32), UINT32),
])
def test_none(expression: Expr) -> None:
    assert linear_form(expression, AT) is None


@pytest.mark.parametrize("around", [
    lambda e: e, lambda e: Unary("-", e, INT32), lambda e: Cast(e, INT64), lambda e: op("+", e, j),
    lambda e: op("-", j, e), lambda e: op("*", e, num(2)), lambda e: op("/", e, num(2)), lambda e: op("&", e, num(7)),
    lambda e: op(">>", e, num(3)),
])
@pytest.mark.parametrize("factors", [(i, n), (n, i), (i, j), (n, n)])
def test_products_of_variables_are_bounds_only(around: Callable[[Expr], Expr], factors: tuple[Expr, Expr]) -> None:
    assert linear_form(around(op("*", *factors)), AT) is None
    assert linear_form(around(op("+", *factors)), AT) is not None
