"""What is known of a correspondence: values of the function's parameters, and what sets and numbers become by them."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scop.body import Binary, Expr, Literal, Load
from polysched.scop.dtypes import INT32
from polysched.tensorize.functions.state import Number, State, affine_text
from polysched.tensorize.software.polynomials import Polynomial

EVERYTHING = isl.Set("{ : }")


@pytest.mark.parametrize(("value", "text"), [
    ({}, "0"), ({(): 7}, "7"), ({("n",): 2, (): -1}, "2 * n + -1"), ({("n",): -1, ("m",): 1}, "-1 * n + 1 * m")])
def test_polynomials_of_degree_one_are_what_isl_reads(value: Polynomial, text: str) -> None:
    assert affine_text(value) == text
    read = isl.Set(f"[n, m, x] -> {{ : x = {affine_text(value)} }}")
    for n, m in ((3, 5), (0, -2)):
        names = {"n": n, "m": m}
        expected = value.get((), 0) + sum(c * names[k[0]] for k, c in value.items() if k)
        point = isl.Set(f"[n, m, x] -> {{ : n = {n} and m = {m} and x = {expected} }}")
        assert point.is_subset(read)


def test_what_is_known_is_put_in_place() -> None:
    state = State(context=EVERYTHING).with_value("k", {("n",): 2, (): 1}).with_value("l", {("n", "m"): 1})
    assert state.known({("_f_k",): 3, (): 1}) == {("n",): 6, (): 4}
    assert state.known({("_f_k", "_f_l"): 1}) == {("m", "n", "n"): 2, ("m", "n"): 1}
    assert state.known({("n",): 5}) == {("n",): 5}
    assert state.known({}) == {}
    assert state.known({("_f_unknown",): 1}) is None


def test_a_value_does_not_change_the_state_that_it_was_added_to() -> None:
    before = State(context=EVERYTHING)
    after = before.with_value("k", {("n",): 1})
    assert before.known({("_f_k",): 1}) is None
    assert before.context.is_equal(EVERYTHING)
    assert after.context.is_equal(isl.Set("[_f_k, n] -> { : _f_k = n }"))


def test_sets_of_the_function_become_those_of_the_program() -> None:
    state = State(context=EVERYTHING).with_value("k", {("n",): 1, (): -2})
    mine = state.in_program(isl.Set("[_f_k, _f_free] -> { [i] : 0 <= i < _f_k and i < _f_free }"))
    assert mine.is_equal(isl.Set("[n] -> { [i] : 0 <= i < n - 2 }"))
    kept = state.restricted(isl.Map("[_f_k] -> { [i] -> [i + _f_k] }"))
    assert kept.is_equal(isl.Map("[_f_k, n] -> { [i] -> [i + _f_k] : _f_k = n - 2 }"))


def test_products_of_parameters_leave_the_context_alone() -> None:
    state = State(context=EVERYTHING).with_value("k", {("n", "m"): 1})
    assert state.context.is_equal(EVERYTHING)
    assert state.in_program(isl.Set("[_f_k] -> { [i] : i = _f_k }")).is_equal(isl.Set("{ [i] }"))


def number(value: Expr, *elements: tuple[str, str]) -> Number:
    return Number(value=value, elements=tuple((name, isl.Map(text)) for name, text in elements))


def test_numbers_are_equal_that_are_the_same_expression_of_the_same_elements() -> None:
    load = Load("@0", INT32)
    twice = Binary("*", load, Literal("2", 2, INT32), INT32)
    one = number(twice, ("A", "[n] -> { [] -> [n] : n > 0 }"))
    assert one.equals(number(twice, ("A", "[n] -> { [] -> [n] }")))
    for other in (number(load, ("A", "[n] -> { [] -> [n] }")), number(twice, ("B", "[n] -> { [] -> [n] }")),
                  number(twice, ("A", "[n] -> { [] -> [n + 1] }")), number(twice)):
        assert not one.equals(other)
