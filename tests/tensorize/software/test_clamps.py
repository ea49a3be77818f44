"""Clamps in every spelling, beside what the expression computes for every value of a small sum."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.dtypes import FLOAT32, INT8, INT16, INT32, INT64, UINT8, DType
from polysched.tensorize.software.clamps import Clamp, of_any_sum, plain, without_clamp

SUM = Binary("+", Cast(Load("a", INT8), INT32), Cast(Load("b", INT8), INT32), INT32)


def number(value: int, dtype: DType = INT32) -> Expr:
    return Literal(str(value), value, dtype) if value >= 0 else Unary("-", Literal(str(-value), -value, dtype), dtype)


def chosen(left: Expr, op: str, right: Expr, then: Expr, otherwise: Expr) -> Expr:
    return Select(Binary(op, left, right, INT32), then, otherwise, INT32)


def spellings(x: Expr, bound: int, kind: str) -> list[Expr]:
    """All ways to write the smaller or the greater of a value and a number."""
    c = number(bound)
    ways: list[Expr] = [Call(kind, (x, c), INT32), Call(kind, (c, x), INT32)]
    for op, (left, right) in itertools.product(("<", "<=", ">", ">="), ((x, c), (c, x))):
        first, second = (left, right) if (op[0] == "<") == (kind == "min") else (right, left)
        ways.append(chosen(left, op, right, first, second))
    return ways


def value(e: Expr, a: int) -> int:
    """What an expression is where the sum is a number."""
    match e:
        case Load():
            return a
        case Literal():
            return int(e.value)
        case Unary():
            return -value(e.operand, a)
        case Cast():
            return value(e.operand, a)
        case Call():
            return {"min": min, "max": max}[e.function](*(value(x, a) for x in e.arguments))
        case Select() if isinstance(e.condition, Binary):
            left, right = value(e.condition.left, a), value(e.condition.right, a)
            holds = {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[e.condition.op]
            return value(e.then if holds else e.otherwise, a)
    raise AssertionError(e)


def test_every_spelling_of_both_bounds_is_found() -> None:
    x = Load("s", INT32)
    for upper in spellings(x, 100, "min"):
        for both in spellings(upper, -100, "max"):
            inner, clamp = without_clamp(both)
            assert [value(both, a) for a in range(-130, 131)] == [max(-100, min(100, a)) for a in range(-130, 131)]
            assert (inner, clamp) == (x, Clamp(-100, 100)), both


@pytest.mark.parametrize(("kind", "words"), [("min", "at most 7"), ("max", "at least 7")])
def test_one_bound_is_a_clamp_on_its_side(kind: str, words: str) -> None:
    for e in spellings(SUM, 7, kind):
        inner, clamp = without_clamp(e)
        assert inner == SUM
        assert str(clamp) == words
    assert str(Clamp(-8, 7)) == "-8 .. 7"


def test_the_nested_spelling_of_a_program_is_one_clamp() -> None:
    low, high = number(-128), number(127)
    e = chosen(SUM, ">", high, high, chosen(SUM, "<", low, low, SUM))
    assert without_clamp(Cast(e, INT8)) == (SUM, Clamp(-128, 127))


@pytest.mark.parametrize("e", [
    SUM, chosen(SUM, "<", number(7), number(8), SUM), chosen(SUM, "<", Load("c", INT32), Load("c", INT32), SUM),
    chosen(SUM, "==", number(7), number(7), SUM), chosen(Load("c", INT32), "<", number(7), number(7), SUM),
    Call("fmax", (SUM, number(7)), INT32)])
def test_what_only_looks_like_a_clamp_is_none(e: Expr) -> None:
    assert without_clamp(e) == (e, None)


def test_bounds_that_the_type_cannot_leave_clamp_nothing_where_that_is_proved() -> None:
    byte = Cast(Load("a", UINT8), INT32)
    e = Call("min", (Call("max", (byte, number(0)), INT32), number(255)), INT32)
    assert without_clamp(e) == (Load("a", UINT8), None)
    assert without_clamp(Call("min", (Load("s", INT16), number(32767)), INT32)) == (Load("s", INT16), None)
    cut = Call("max", (Cast(Cast(Load("s", INT16), INT8), INT32), number(-32768)), INT32)
    assert without_clamp(cut)[1] is None


def test_a_float_is_clamped_by_numbers() -> None:
    x, one = Load("x", FLOAT32), Literal("1.5f", 1.5, FLOAT32)
    e = Select(Binary(">", x, one, INT32), one, x, FLOAT32)
    assert without_clamp(e) == (x, Clamp(None, 1.5))


def test_conversions_that_keep_every_value_are_looked_through() -> None:
    assert plain(Cast(Cast(Load("a", INT8), INT32), INT64)) == Load("a", INT8)
    cut = Cast(Load("s", INT32), INT8)
    assert plain(Cast(cut, INT32)) == cut
    anything = of_any_sum(Binary("*", SUM, SUM, INT32), SUM)
    assert anything == Binary("*", Load("the sum", INT32), Load("the sum", INT32), INT32)
