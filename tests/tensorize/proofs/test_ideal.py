"""Ideal forms are polynomials over the rationals; what an instruction does to its result is read off its update."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Unary
from polysched.scop.dtypes import FLOAT32, INT8, INT32, INT64, UINT8
from polysched.tensorize import find_intrinsic
from polysched.tensorize.proofs.ideal import (
    accumulates_sum,
    ideal_form,
    ideal_text,
    multiplies,
    overwrites,
    sums_from_zero,
    vanishes,
)
from tests.tensorize.described import unit


def drawn(chooser: random.Random, depth: int) -> Expr:
    """A random sum of products in narrow types, with conversions that cut."""
    if depth == 0:
        return Load(chooser.choice("abc"), INT8) if chooser.random() < 0.8 else Literal("3", 3, INT32)
    if chooser.random() < 0.2:
        return Cast(drawn(chooser, depth - 1), chooser.choice([INT8, UINT8, INT64]))
    if chooser.random() < 0.2:
        return Unary("-", drawn(chooser, depth - 1), INT32)
    return Binary(chooser.choice("+-*"), drawn(chooser, depth - 1), drawn(chooser, depth - 1), INT32)


def value(e: Expr, at: dict[str, int]) -> int:
    """What the expression is over numbers without width."""
    match e:
        case Load():
            return at[e.reference]
        case Literal():
            return int(e.value)
        case Unary():
            return -value(e.operand, at)
        case Cast():
            return value(e.operand, at)
        case Binary():
            left, right = value(e.left, at), value(e.right, at)
            return left + right if e.op == "+" else left - right if e.op == "-" else left * right
    raise AssertionError(e)


@pytest.mark.parametrize("seed", range(30))
def test_the_form_has_the_value_of_the_expression_without_widths(seed: int) -> None:
    chooser = random.Random(seed)
    e = drawn(chooser, 4)
    form = ideal_form(e, {})
    assert form is not None
    for at in ({"a": 2, "b": -3, "c": 5}, {"a": 1000, "b": 77, "c": -256}):
        total = Fraction(0)
        for monomial, factor in form.terms:
            product = factor
            for name in monomial:
                product *= at.get(name, 0)   # the negative zero counts as zero
            total += product
        assert total == value(e, at)


def test_equal_polynomials_have_one_text_whatever_their_types() -> None:
    a, b = Load("a", INT8), Load("b", FLOAT32)
    left = Binary("*", Cast(a, INT64), Cast(Binary("+", b, b, FLOAT32), INT8), INT64)
    right = Binary("*", Literal("2", 2, INT32), Binary("*", b, a, FLOAT32), FLOAT32)
    assert ideal_text(left, {}) == ideal_text(right, {})
    assert ideal_text(left, {"a": b}) == ideal_text(Binary("*", Literal("2", 2, INT32), Binary("*", b, b, FLOAT32),
                                                           FLOAT32), {})
    assert ideal_text(Binary("/", a, b, FLOAT32), {}) != ideal_text(Binary("*", a, b, FLOAT32), {})


LOOP = "for (int i = 0; i < 4; i++) "
UPDATES = {   # overwrites, sums from zero, adds a sum, is made of sums and products
    "Y[i] += X[i] * W[i];": (False, False, True, True), "Y[i] = X[i] + W[i];": (True, False, False, True),
    "Y[i] = 2 * Y[i] + X[i] * W[i];": (False, False, False, True), "Y[i] -= X[i] * W[i];": (False, False, True, True),
    "Y[i] += X[i] > W[i] ? X[i] : W[i];": (False, False, True, False),
    "Y[i] = X[i] * W[i] - Y[i];": (False, False, False, True),
    "Y[i] += (X[i] + W[i]) >> 1;": (False, False, True, False),
    "Y[i] = Y[i] > X[i] + W[i] ? Y[i] : X[i];": (False, False, False, False),
    "Y[i] += X[i] * Y[i] + W[i];": (False, False, False, True),
    "{ int32_t s = 0; for (int k = 0; k < 4; k++) s += X[k] * W[i]; Y[i] = s; }": (False, True, True, True)}


@pytest.mark.parametrize("text", UPDATES)
def test_what_an_update_does_to_its_result(text: str) -> None:
    made = unit("made", "int32_t Y[4], const int16_t X[4], const int16_t W[4]", LOOP + text)
    assert (overwrites(made), sums_from_zero(made), accumulates_sum(made), multiplies(made)) == UPDATES[text]


def test_several_results_add_only_where_none_reads_another() -> None:
    head = "int32_t Y[4], int32_t Z[4], const int16_t X[4]"
    assert accumulates_sum(unit("both", head, LOOP + "{ Y[i] += X[i]; Z[i] += 2 * X[i]; }"))
    assert not accumulates_sum(unit("mixed", head, LOOP + "{ Y[i] += X[i]; Z[i] += Y[i]; }"))
    assert overwrites(unit("set", head, LOOP + "{ Y[i] = X[i]; Z[i] = -X[i]; }"))
    assert not overwrites(unit("one", head, LOOP + "{ Y[i] = X[i]; Z[i] += X[i]; }"))


@pytest.mark.parametrize(("text", "zeros", "gone"), [
    ("Y[i] += X[i] * W[i];", "X", True), ("Y[i] += X[i] * W[i];", "W", True), ("Y[i] += X[i] * W[i];", "", False),
    ("Y[i] += X[i] + W[i];", "X", False), ("Y[i] += X[i] + W[i];", "XW", True),
    ("Y[i] += (X[i] + 1) * W[i];", "X", False), ("Y[i] += (X[i] - W[i]) * (X[i] - W[i]);", "X", False),
    ("Y[i] += (X[i] - W[i]) * (X[i] - W[i]);", "XW", True), ("Y[i] = Y[i] > X[i] ? Y[i] : X[i];", "X", False),
    ("Y[i] = X[i] * W[i];", "X", False), ("Y[i] += (X[i] > W[i]);", "XW", True), ("Y[i] ^= X[i] & W[i];", "W", True)])
def test_padding_vanishes_where_zeros_leave_the_old_value(text: str, zeros: str, gone: bool) -> None:
    made = unit("made", "int32_t Y[4], const int16_t X[4], const int16_t W[4]", LOOP + text)
    assert vanishes(made, frozenset(zeros)) is gone


def test_a_float_product_with_zeros_vanishes_ideally() -> None:
    assert vanishes(find_intrinsic("cblas_dgemm"), frozenset({"A"}))
    assert not vanishes(find_intrinsic("cblas_dgemm"), frozenset({"C"}))
    assert ideal_form(Call("sqrt", (Load("a", FLOAT32),), FLOAT32), {}) is not None
