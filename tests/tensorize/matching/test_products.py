"""Expressions whose instruction's update is the program's: found over the rationals, within a budget."""

from __future__ import annotations

import pytest

from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Expr, Literal, Load
from polysched.scop.dtypes import FLOAT32
from polysched.tensorize.matching import products as module
from polysched.tensorize.matching.products import products
from tests.tensorize.described import unit

FMA = unit("fma", "float C[1], const float A[1], const float B[1]", "C[0] += A[0] * B[0];")
C, X, Y = (Load(name, FLOAT32) for name in ("c", "x", "y"))
TWO = Literal("2.0f", 2.0, FLOAT32)


def op(sign: str, left: Expr, right: Expr) -> Binary:
    return Binary(sign, left, right, FLOAT32)


def found(update: Expr, *choices: Expr) -> list[tuple[Expr, ...]]:
    return list(products(FMA, update, "c", [choices, choices]))


@pytest.mark.parametrize("update", [
    op("+", C, op("*", X, Y)), op("+", op("*", Y, X), C), op("-", C, op("*", X, op("-", Literal("0", 0, FLOAT32), Y)))])
def test_every_way_to_put_factors_into_the_operands(update: Expr) -> None:
    assert set(found(update, X, Y)) == {(X, Y), (Y, X)}


def test_parts_of_a_product_are_operands_of_their_own() -> None:
    doubled = op("*", TWO, X)
    assert (doubled, Y) in found(op("+", C, op("*", op("*", TWO, X), Y)), X, Y, doubled)


@pytest.mark.parametrize("update", [op("+", C, X), op("*", X, Y), op("+", C, op("*", op("*", X, Y), Y))])
def test_other_updates_have_none(update: Expr) -> None:
    assert found(update, X, Y) == []


def test_constants_alone_are_no_operands() -> None:
    assert found(op("+", C, Literal("4.0f", 4.0, FLOAT32)), TWO) == []


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COMBINATIONS", 3)
    with pytest.raises(BudgetExceededError, match="there are 4 ways") as refused:
        found(op("+", C, op("*", X, Y)), X, Y)
    assert "statements of their own" in refused.value.hint
