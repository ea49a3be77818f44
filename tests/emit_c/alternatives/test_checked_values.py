"""What arrays of a check are filled with: subscripts stay inside, divisors are positive, sums of floats are exact."""

from __future__ import annotations

import pytest

from polysched.emit_c.alternatives.checked_values import (
    Equality,
    Values,
    checked,
    cuts,
    equality_of,
    expressions_of,
    limits_values,
    magnitude,
    rounds,
    subscripted_below,
)
from polysched.scop import from_c_text
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load
from polysched.scop.dtypes import FLOAT32, INT32
from polysched.scop.scop import Scop
from tests.emit_c.alternatives.matched_programs import floats, integers


def program(statement: str) -> Scop:
    return from_c_text("void f(float x[40], int at[20], int d[20], float y[20]) {\n#pragma scop\n"
                       f"  for (int i = 0; i < 20; i++)\n    {statement}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("statement", "bound"), [
    ("y[i] = x[at[i]];", 40), ("x[at[i]] = 1;", 40), ("y[at[i]] = x[at[i]];", 20),
    ("y[i] = x[at[i] & 15];", None),     # stays inside whatever the element is
    ("y[i] = at[i];", None)])
def test_subscripts_have_a_bound(statement: str, bound: int | None) -> None:
    scop = program(statement)
    assert subscripted_below(scop.array("at"), scop) == bound


@pytest.mark.parametrize(("statement", "limited"), [
    ("at[i] = at[i] / d[i];", True), ("at[i] = at[i] % d[i];", True), ("at[i] = at[i] << d[i];", True),
    ("y[i] = x[i] / d[i];", False),      # floats may be divided by anything
    ("at[i] = d[i] / 3;", False)])
def test_divisors_and_shifts_are_limited(statement: str, limited: bool) -> None:
    scop = program(statement)
    assert limits_values(scop.array("d"), scop) is limited


X = Load("x", FLOAT32)


@pytest.mark.parametrize(("e", "does"), [
    (Binary("/", X, X, FLOAT32), True), (Binary("/", Load("d", INT32), Load("d", INT32), INT32), False),
    (Binary("*", X, X, FLOAT32), False), (Literal("0.5f", 0.5, FLOAT32), True), (Literal("2.0f", 2.0, FLOAT32), False),
    (Call("expf", (X,), FLOAT32), True), (Call("fmaf", (X, X, X), FLOAT32), False)])
def test_what_rounds_whole_numbers(e: Expr, does: bool) -> None:
    assert rounds(e) is does


def test_conversions_that_c_leaves_open() -> None:
    assert cuts(Cast(X, INT32))
    assert not cuts(Cast(Load("d", INT32), FLOAT32))


def test_sums_of_floats_are_of_whole_numbers() -> None:
    found = floats().match
    alone = found.fragment.scop
    assert equality_of(found, alone) is Equality.NUMBERS
    made = checked(alone.array("A"), found, alone, Equality.NUMBERS)
    assert (made.values, made.shape, made.compared) == (Values.WHOLE, (20, 9), True)
    assert made.most ** 2 * 9 * 2 < 1 << 24
    assert made.most == magnitude(found)


def test_integers_are_compared_bit_for_bit_on_any_values() -> None:
    found = integers().match
    alone = found.fragment.scop
    assert equality_of(found, alone) is Equality.BITS
    assert checked(alone.array("A"), found, alone, Equality.BITS).values is Values.ANY


def test_every_part_of_every_statement_is_seen() -> None:
    scop = program("y[i] = x[i] * 2;")
    assert {type(e).__name__ for _, e in expressions_of(scop)} >= {"Binary", "Load", "Literal"}
