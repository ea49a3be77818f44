"""Expressions as circuits: on constants every gate folds, and the bits are those of C's arithmetic."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.c_arithmetic import integer_operation, wrap
from polysched.scop.dtypes import FLOAT32, INT8, INT16, INT32, UINT8, UINT32, DType
from polysched.tensorize.equality.bits import Circuit, NotACircuit, Word

SOME = (-2**31, -100, -3, -1, 0, 1, 2, 7, 255, 2**31 - 1)


def number(value: int, dtype: DType) -> Literal:
    return Literal(str(value), value, dtype)


def value(word: Word, dtype: DType) -> int:
    assert all(abs(bit) == 1 for bit in word), "constants leave no gate"
    return wrap(sum(1 << k for k, bit in enumerate(word) if bit == 1), dtype)


def computed(e: Expr) -> int:
    return value(Circuit(free_products=False).word(e), e.dtype)


@pytest.mark.parametrize("dtype", [INT32, UINT32])
@pytest.mark.parametrize("op", ["+", "-", "*", "&", "|", "^"])
def test_operators(op: str, dtype: DType) -> None:
    for a, b in itertools.product((wrap(n, dtype) for n in SOME), repeat=2):
        made = computed(Binary(op, number(a, dtype), number(b, dtype), dtype))
        assert made == integer_operation(op, a, b, dtype, True), (a, b)


@pytest.mark.parametrize("dtype", [INT32, UINT32])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons(op: str, dtype: DType) -> None:
    for a, b in itertools.product((wrap(n, dtype) for n in SOME), repeat=2):
        assert computed(Binary(op, number(a, dtype), number(b, dtype), INT32)) == int(eval(f"{a} {op} {b}"))


@pytest.mark.parametrize(("dtype", "divisor"), [
    *itertools.product((INT32, UINT32), (1, 2, 3, 4, 10, 255, 256, 2**30, 2**30 + 1, 2**31 - 1)),
    (UINT32, 2**31), (UINT32, 2**32 - 5)])
def test_quotients_and_remainders_by_positive_numbers(dtype: DType, divisor: int) -> None:
    for a in (wrap(n, dtype) for n in SOME):
        for op in ("/", "%"):
            made = computed(Binary(op, number(a, dtype), number(divisor, dtype), dtype))
            assert made == integer_operation(op, a, divisor, dtype, True), (a, op)


@pytest.mark.parametrize("amount", [0, 1, 7, 31])
@pytest.mark.parametrize("dtype", [INT32, UINT32])
def test_shifts_by_constants(dtype: DType, amount: int) -> None:
    for a in (wrap(n, dtype) for n in SOME):
        for op in ("<<", ">>"):
            made = computed(Binary(op, number(a, dtype), number(amount, INT32), dtype))
            assert made == integer_operation(op, a, amount, dtype, True)


@pytest.mark.parametrize(("given", "wanted"), [(INT8, INT32), (UINT8, INT32), (INT32, UINT8), (INT16, UINT32)])
def test_conversions(given: DType, wanted: DType) -> None:
    for a in (wrap(n, given) for n in SOME):
        assert computed(Cast(number(a, given), wanted)) == wrap(a, wanted)


def test_choices_and_extremes() -> None:
    three, four = number(3, INT32), number(-4, INT32)
    assert computed(Select(number(0, INT32), three, four, INT32)) == -4
    assert computed(Call("min", (three, four), INT32)) == -4
    assert computed(Call("max", (three, four), INT32)) == 3
    assert computed(Unary("-", four, INT32)) == 4
    assert computed(Unary("!", three, INT32)) == 0
    assert computed(Unary("~", three, INT32)) == -4


@pytest.mark.parametrize("e", [
    Literal("1.0f", 1.0, FLOAT32), Binary("/", number(7, INT32), number(-2, INT32), INT32),
    Binary("%", number(7, INT32), Load("x", INT32), INT32), Binary("%", number(7, INT32), number(0, INT32), INT32),
    Binary("<<", number(1, INT32), Load("x", INT32), INT32), Call("f", (number(1, INT32),), INT32)])
def test_no_circuit(e: Expr) -> None:
    with pytest.raises(NotACircuit):
        Circuit(free_products=False).word(e)


def test_products_of_variables_may_stay_free() -> None:
    x, y = Load("x", INT32), Load("y", INT32)
    free = Circuit(free_products=True)
    one, other = (free.word(Binary("*", a, b, INT32)) for a, b in ((x, y), (y, x)))
    assert one == other
    assert len(free.products) == 1
    assert len(Circuit(free_products=True).clauses) == 1
    exact = Circuit(free_products=False)
    exact.word(Binary("*", x, y, INT32))
    assert len(exact.clauses) > len(free.clauses)


def test_equal_gates_are_one() -> None:
    made = Circuit(free_products=False)
    a, b = made.fresh(), made.fresh()
    assert made.both(a, b) == made.both(b, a)
    assert made.differ(a, b) == -made.differ(-a, b)
    assert made.both(a, -a) == -1
    assert made.either(a, -a) == 1
