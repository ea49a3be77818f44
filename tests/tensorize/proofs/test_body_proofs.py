"""What is proved of two bodies holds for every value of small operands, and what differs is not proved."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, Load, Select, Unary
from polysched.scop.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from polysched.tensorize.equality import Verdict
from polysched.tensorize.proofs.body_proofs import (
    adds_to,
    below_signs,
    fits,
    references,
    same_clamped,
    same_of_values,
    substituted,
    summands,
)
from polysched.tensorize.software.clamps import without_clamp

A, B, U = Cast(Load("a", INT8), INT32), Cast(Load("b", INT8), INT32), Cast(Load("u", UINT8), INT32)
ALL = [INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64]


def number(value: int, dtype: DType = INT32) -> Literal:
    return Literal(str(value), value, dtype)


def binary(op: str, left: Expr, right: Expr, dtype: DType = INT32) -> Binary:
    return Binary(op, left, right, dtype)


BYTES = range(-128, 128)
PAIRS = list(itertools.product(BYTES, BYTES))
EXPRESSIONS: dict[str, tuple[Expr, set[int]]] = {   # and all values that it has
    "a + b": (binary("+", A, B), {a + b for a, b in PAIRS}),
    "a - b": (binary("-", A, B), {a - b for a, b in PAIRS}),
    "-a": (Unary("-", A, INT32), {-a for a in BYTES}),
    "u + u'": (binary("+", U, Cast(Load("v", UINT8), INT32)), set(range(511))),
    "a & 15": (binary("&", A, number(15)), {a & 15 for a in BYTES}),
    "a >> 1": (binary(">>", A, number(1)), {a >> 1 for a in BYTES}),
    "(u + u') >> 1": (binary(">>", binary("+", U, Cast(Load("v", UINT8), INT32)), number(1)), set(range(256))),
    "a < 0 ? -a : a": (Select(binary("<", A, number(0)), Unary("-", A, INT32), A, INT32), {abs(a) for a in BYTES}),
    "u - 128": (binary("-", U, number(128)), set(BYTES)),
    "a + b, wide": (binary("+", Cast(A, INT64), Cast(B, INT64), INT64), {a + b for a, b in PAIRS}),
    "a, 64 bits unsigned": (binary("+", Cast(A, UINT64), number(0, UINT64), UINT64), {a % 2 ** 64 for a in BYTES}),
    "u ^ 255": (binary("^", U, number(255)), set(range(256))),
    "(uint8) a": (Cast(Cast(Load("a", INT8), UINT8), INT32), set(range(256))),
    "(int8) u": (Cast(Cast(Load("u", UINT8), INT8), INT32), set(BYTES))}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_fits_the_types_that_have_all_of_its_values(name: str) -> None:
    e, values = EXPRESSIONS[name]
    for wanted in ALL:
        low, high = wanted.value_range()
        assert fits(e, wanted, {}) == all(low <= v <= high for v in values), wanted


def test_a_sum_of_whole_words_fits_no_unsigned_type() -> None:
    total = binary("+", Load("x", INT32), Load("y", INT32))
    assert not any(fits(total, t, {}) for t in ALL if t not in (INT32, INT64))
    magnitude = binary("&", total, number((1 << 31) - 1))
    assert fits(magnitude, UINT64, {})
    assert fits(magnitude, UINT32, {})


def test_ranges_of_iterators_count_and_floats_are_asked_for_their_values() -> None:
    e = binary("+", IteratorRef("i", INT64), number(-3, INT64), INT64)
    assert fits(e, UINT8, {"i": (3, 258)})
    assert not fits(e, UINT8, {"i": (3, 259)})
    assert not fits(e, UINT8, {"i": (2, 258)})
    assert fits(Load("x", FLOAT32), FLOAT64, {})
    assert not fits(Load("x", FLOAT64), FLOAT32, {})
    assert not fits(Load("x", INT8), FLOAT32, {}), "an operand of floats is none of integers"
    assert fits(Load("x", BOOL), UINT8, {})


def test_summands_carry_the_sign_of_every_bracket() -> None:
    a, b, c = (Load(n, INT32) for n in "abc")
    e = binary("-", binary("-", a, binary("-", b, c)), Unary("-", a, INT32))
    assert [(op, x) for op, x in summands(e, INT32)] == [("+", a), ("-", b), ("+", c), ("-", Unary("-", a, INT32))]
    wide = Cast(binary("+", Cast(a, INT64), Cast(b, INT64), INT64), INT32)
    assert [op for op, _ in summands(wide, INT32)] == ["+", "+"], "the low bits of a wider sum are the sum"
    narrow = Cast(binary("+", Cast(a, INT8), Cast(b, INT8), INT8), INT32)
    assert list(summands(narrow, INT32)) == [("+", narrow)], "a narrower one was cut"
    x, y = Load("x", FLOAT32), Load("y", FLOAT32)
    double = Cast(binary("+", Cast(x, FLOAT64), Cast(y, FLOAT64), FLOAT64), FLOAT32)
    assert list(summands(double, FLOAT32)) == [("+", double)], "a sum of doubles is rounded twice"


@pytest.mark.parametrize(("update", "adds"), [
    (binary("+", Load("c", INT32), A), True), (binary("-", Load("c", INT32), A), True),
    (binary("+", A, Cast(Cast(Load("c", INT32), UINT32), INT32)), True),
    (binary("-", A, Load("c", INT32)), False), (binary("+", Load("c", INT32), Load("c", INT32)), False),
    (binary("-", A, binary("-", B, Load("c", INT32))), True), (Load("c", INT32), False),
    (binary("+", Load("c", INT32), binary("*", A, Load("c", INT32))), False),
    (binary("+", binary(">>", Load("c", INT32), number(1)), A), False)])
def test_what_adds_to_its_old_value(update: Expr, adds: bool) -> None:
    assert adds_to(update, Load("c", INT32)) is adds


def test_signs_of_one_width_are_no_conversion_and_others_are() -> None:
    x = Load("x", INT32)
    assert below_signs(Cast(Cast(x, UINT32), INT32)) == x
    assert below_signs(Cast(x, INT64)) == Cast(x, INT64)
    assert below_signs(Cast(Load("f", FLOAT32), INT32)) == Cast(Load("f", FLOAT32), INT32)


def test_an_instructions_elements_become_expressions_of_their_types() -> None:
    update = binary("+", Load("C", INT32), Cast(Load("A[k]", INT16), INT32))
    made = substituted(update, {"A[k]": Load("a", INT8)}, Load("c", INT32), "C")
    assert made == binary("+", Load("c", INT32), Cast(Cast(Load("a", INT8), INT16), INT32))
    assert references(made) == {"a", "c"}


def test_equality_of_values_is_asked_within_the_operands_types() -> None:
    """(x - 128) + 128 of any byte is one; as a product's operand it has every value of the operand's type."""
    operand = binary("-", U, number(128))
    update = binary("+", Load("c", INT32), binary("*", operand, A))
    mine = binary("+", Load("c", INT32), binary("*", Cast(Cast(operand, INT8), INT32), A))
    held, types = {"A": operand, "B": Load("a", INT8)}, {"A": INT8, "B": INT8}
    assert same_of_values(update, mine, INT32, held, types).verdict is Verdict.EQUAL
    shifted = binary("+", Load("c", INT32), binary("*", Cast(Cast(binary("-", U, number(127)), INT8), INT32), A))
    assert same_of_values(update, shifted, INT32, held, types).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(("low", "high", "same"), [(-100, 100, True), (-128, 127, True), (-100, 99, False)])
def test_a_clamped_sum_is_compared_with_its_own_bounds(low: int, high: int, same: bool) -> None:
    total = binary("+", Load("c", INT32), A)
    update = Select(binary(">", total, number(100 if low == -100 else 127)), number(100 if low == -100 else 127),
                    Select(binary("<", total, number(low)), number(low), total, INT32), INT32)
    inner, clamp = without_clamp(update)
    assert clamp is not None
    assert (clamp.low, clamp.high) == (low, 100 if low == -100 else 127)
    wanted = clamp if same else type(clamp)(low, high)
    found = same_clamped(update, inner, binary("+", Load("c", INT32), A), wanted).verdict
    assert (found is Verdict.EQUAL) is same
