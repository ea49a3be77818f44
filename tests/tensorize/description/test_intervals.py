"""Values that integer expressions can have: exact at the ends, and a type's whole range where one may wrap."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Binary, Cast, Expr, IteratorRef, Literal, Load, Select, Unary
from polysched.scop.dtypes import FLOAT32, INT8, INT16, INT32, UINT8, UINT32, DType
from polysched.tensorize.description.intervals import converted, interval, wraps

I_ = IteratorRef("i", INT32)
EXTENTS = {"i": 10, "n": "N"}
BYTE = Load("A", UINT8)
WIDE = Cast(BYTE, INT32)


def number(value: int, dtype: DType = INT32) -> Literal:
    return Literal(str(value), value, dtype)


def op(sign: str, left: Expr, right: Expr, dtype: DType = INT32) -> Binary:
    return Binary(sign, left, right, dtype)


@pytest.mark.parametrize(("e", "values"), [
    (number(7), (7, 7)),
    (I_, (0, 9)),
    (BYTE, (0, 255)),
    (WIDE, (0, 255)),
    (Cast(BYTE, INT8), (-128, 127)),                               # what does not fit may be anything
    (op("+", WIDE, I_), (0, 264)),
    (op("-", I_, WIDE), (-255, 9)),
    (op("*", WIDE, number(-2)), (-510, 0)),
    (op("&", WIDE, number(15)), (0, 15)),
    (op("|", WIDE, number(256)), (0, 511)),
    (op("/", op("-", I_, number(5)), number(2)), (-2, 2)),         # towards zero
    (op("%", op("-", I_, number(5)), number(3)), (-2, 2)),
    (op("%", I_, number(3)), (0, 2)),
    (op(">>", WIDE, number(4)), (0, 15)),
    (op("<<", I_, number(3)), (0, 72)),
    (op("<", I_, WIDE), (0, 1)),
    (Unary("-", WIDE, INT32), (-255, 0)),
    (Unary("~", WIDE, INT32), (-256, -1)),
    (Unary("!", WIDE, INT32), (0, 1)),
    (Select(op("<", I_, WIDE), I_, number(-3), INT32), (-3, 9)),
    (op("*", Load("B", INT32), number(2)), INT32.value_range()),   # may wrap
    (op("/", WIDE, I_), INT32.value_range()),                      # a division by zero
    (op("<<", I_, WIDE), INT32.value_range()),                     # a shift out of range
])
def test_values(e: Expr, values: tuple[int, int]) -> None:
    assert interval(e, EXTENTS) == values


def test_floats_have_no_interval() -> None:
    assert interval(Load("x", FLOAT32), EXTENTS) is None


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "%", "&", "|", "^"])
def test_every_value_of_small_operands_is_inside(sign: str) -> None:
    left, right = op("-", IteratorRef("i", INT32), number(4)), op("+", IteratorRef("k", INT32), number(1))
    found = interval(op(sign, left, right), {"i": 10, "k": 5})
    assert found is not None
    low, high = found
    for a, b in itertools.product(range(-4, 6), range(1, 6)):
        quotient = abs(a) // b * (1 if a >= 0 else -1)
        value = {"+": a + b, "-": a - b, "*": a * b, "/": quotient, "%": a - b * quotient, "&": a & b, "|": a | b,
                 "^": a ^ b}[sign]
        assert low <= value <= high, (a, b)


def test_conversions() -> None:
    assert converted((0, 100), INT8) == (0, 100)
    assert converted((0, 200), INT8) == (-128, 127)
    assert converted(None, UINT8) == (0, 255)
    assert not wraps((-5, 5), INT16)
    assert wraps((-5, 5), UINT32)
    assert wraps(None, INT32)
