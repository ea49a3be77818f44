"""Expressions of tensor IR as values."""

from collections.abc import Sequence
from typing import Any

import pytest

from polysched.scop.construction.values import CannotExpress, Value, constant_of, iterator, number
from polysched.scop.dtypes import FLOAT32, INT8, INT64
from polysched.scop.tir_frontend.expressions import Reader
from tests.scop.tir_frontend.standins import binary, buffer, call, load, node, var
from tests.scop.tir_frontend.standins import number as literal


def nothing(_: Any) -> Value:
    raise CannotExpress("no variable")


def element(_: Any, subscripts: Sequence[Value]) -> Value:
    return number(float(len(subscripts)))


READER = Reader(nothing, element)


@pytest.mark.parametrize(("name", "a", "b", "expected"), [
    ("Add", 7, 3, 10), ("Sub", 7, 3, 4), ("Mul", 7, -3, -21), ("FloorDiv", -7, 2, -4), ("FloorMod", -7, 4, 1),
    ("Min", 7, 3, 3), ("Max", 7, 3, 7),
])
def test_integers(name: str, a: int, b: int, expected: int) -> None:
    assert constant_of(READER.value(binary(name, literal(a), literal(b)))) == expected


@pytest.mark.parametrize(("name", "holds"), [("LT", True), ("GE", False), ("EQ", False), ("NE", True)])
def test_comparisons_have_a_condition(name: str, holds: bool) -> None:
    condition = READER.value(binary(name, literal(1), literal(2))).condition
    assert condition is not None
    assert (not condition.is_empty()) == holds


def test_types() -> None:
    half = literal(0.5, "float32")
    assert READER.value(half).dtype == FLOAT32
    assert READER.value(node("Cast", value=literal(3), ty="int64")).dtype == INT64
    assert READER.value(call("exp", half)).dtype == FLOAT32
    assert READER.value(call("sigmoid", half, dtype="float32")).dtype == FLOAT32
    assert READER.value(call("if_then_else", binary("LT", literal(1), literal(2)), half, half)).dtype == FLOAT32
    assert constant_of(READER.value(load(buffer("A", [1, 2]), literal(0), literal(1)))) == 2.0


@pytest.mark.parametrize(("given", "message"), [
    (var("i"), "no variable"), (node("Shuffle"), "an expression Shuffle"), (call("tvm_access_ptr"), "a call of"),
    (node("Cast", value=literal(3), ty="float8_e4m3fn"), "a value of type float8_e4m3fn"),
])
def test_refusals(given: Any, message: str) -> None:
    with pytest.raises(CannotExpress, match=message):
        READER.value(given)


def test_a_loop_variable_wraps_in_a_byte() -> None:
    reader = Reader(lambda _: iterator("i", "i"), element)

    def cast(dtype: str) -> Value:
        return reader.value(node("Cast", value=var("i"), ty=dtype))

    assert cast("int32").weak
    assert (cast("int8").weak, cast("int8").dtype) == (False, INT8)
