"""Expressions that an instruction makes the update of are found among all combinations, with the sure ones first."""

from __future__ import annotations

import itertools

import pytest

from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select
from polysched.scop.dtypes import INT16, INT32, UINT8, UINT16
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.matching.functions import functions
from polysched.tensorize.software.fragment import Assigned
from tests.tensorize.described import unit

LOOP = "for (int i = 0; i < 4; i++) "
A, B, C = (Load(n, UINT8) for n in "abc")
HEAD = "uint8_t Y[4], const uint8_t X[4], const uint8_t W[4]"
LARGER = unit("larger", HEAD, LOOP + "Y[i] = X[i] > W[i] ? X[i] : W[i];")
APART = unit("apart", HEAD, LOOP + "Y[i] = X[i] - W[i];")
MIDDLE = unit("middle", HEAD, LOOP + "Y[i] = (X[i] + W[i] + 1) >> 1;")
BYTES = [0, 1, 2, 7, 127, 128, 200, 255]


def byte(e: Expr) -> Expr:
    return Cast(e, UINT8)


def wide(e: Expr) -> Expr:
    return Cast(e, INT32)


def larger(x: Expr, y: Expr) -> Expr:
    return Select(Binary("<", wide(x), wide(y), INT32), y, x, UINT8)


def middle(x: Expr, y: Expr, by: int = 1) -> Expr:
    total = Binary("+", Binary("+", wide(x), wide(y), INT32), Literal(str(by), by, INT32), INT32)
    return byte(Binary(">>", total, Literal("1", 1, INT32), INT32))


def found(intrinsic: Intrinsic, update: Expr, pool: list[Expr]) -> list[tuple[Expr, ...]]:
    return list(functions(intrinsic, [Assigned("y", update)], pool))


def test_both_orders_of_a_symmetric_function_are_found() -> None:
    assert set(found(LARGER, larger(A, B), [A, B])) == {(A, B), (B, A)}
    assert set(found(MIDDLE, middle(A, B), [A, B])) == {(A, B), (B, A)}
    assert found(MIDDLE, middle(A, B, 0), [A, B]) == []
    assert found(APART, byte(Binary("-", wide(B), wide(A), INT32)), [A, B]) == [(B, A)]


def test_only_combinations_that_read_what_the_program_reads_are_found() -> None:
    assert found(LARGER, larger(A, A), [A]) == [(A, A)]
    assert found(LARGER, larger(A, larger(A, B)), [A, B]) == [(A, B), (B, A)]
    assert found(LARGER, larger(A, larger(B, C)), [A, B, C]) == []
    assert found(LARGER, larger(A, B), []) == []


def test_agreement_is_that_of_all_values() -> None:
    """Beside what C computes of every pair of bytes that is at an end or in the middle."""
    updates = {"max": larger(A, B), "mean": middle(A, B), "difference": byte(Binary("-", wide(A), wide(B), INT32))}
    meanings = {LARGER: max, APART: lambda x, y: (x - y) % 256, MIDDLE: lambda x, y: (x + y + 1) >> 1}
    wanted = {"max": max, "mean": lambda x, y: (x + y + 1) >> 1, "difference": lambda x, y: (x - y) % 256}
    for (name, update), (intrinsic, meaning) in itertools.product(updates.items(), meanings.items()):
        pairs = {order for order in ((A, B), (B, A)) if all(
            meaning(*((x, y) if order[0] is A else (y, x))) == wanted[name](x, y)
            for x, y in itertools.product(BYTES, BYTES))}
        assert set(found(intrinsic, update, [A, B])) == pairs, (name, intrinsic.name)


def test_what_agrees_on_small_numbers_only_comes_last() -> None:
    """A wider program is a candidate with a hindrance, not a match."""
    x, y = Load("a", UINT16), Load("b", UINT16)
    total = Binary(">>", Binary("+", Binary("+", wide(x), wide(y), INT32), Literal("1", 1, INT32), INT32),
                   Literal("1", 1, INT32), INT32)
    update = Cast(total, INT16)
    assert set(found(MIDDLE, update, [x, y])) == {(x, y), (y, x)}
    sure = [byte(x), byte(y)]
    narrow = Cast(Binary(">>", Binary("+", Binary("+", wide(sure[0]), wide(sure[1]), INT32), Literal("1", 1, INT32),
                                      INT32), Literal("1", 1, INT32), INT32), UINT8)
    ordered = found(MIDDLE, narrow, [x, y, *sure])
    assert len(ordered) > 2
    assert all(set(chosen) <= {*sure, x, y} for chosen in ordered)


def test_several_results_agree_together() -> None:
    both = unit("both", "uint8_t Y[4], uint8_t Z[4], const uint8_t X[4], const uint8_t W[4]", LOOP +
                "{ Y[i] = X[i] > W[i] ? X[i] : W[i]; Z[i] = X[i] - W[i]; }")
    difference = byte(Binary("-", wide(A), wide(B), INT32))
    results = [Assigned("y", larger(A, B)), Assigned("z", difference)]
    assert list(functions(both, results, [A, B])) == [(A, B)]
    assert list(functions(both, results[::-1], [A, B])) == []


def test_too_many_combinations_are_refused_in_words() -> None:
    pool: list[Expr] = [Load(f"x{at}", UINT8) for at in range(3000)]
    with pytest.raises(BudgetExceededError, match="larger has 2 inputs, and there are 9000000 ways"):
        found(LARGER, larger(pool[0], pool[1]), pool)


def test_what_cannot_be_evaluated_is_left_to_the_proof() -> None:
    unknown = Call("lgamma", (A,), UINT8)
    assert set(found(LARGER, Select(Binary("<", unknown, B, INT32), A, B, UINT8), [A, B])) == {(A, B), (B, A)}
