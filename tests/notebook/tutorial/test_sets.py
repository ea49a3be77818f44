from __future__ import annotations

import islpy as isl
import pytest

from polysched.notebook.tutorial.answers import State, check
from polysched.notebook.tutorial.sets import CountOf, DomainOf, FormulaOf, first_point
from tests.notebook.tutorial.programs_asked_about import program, steps, triangle


@pytest.mark.parametrize("answer", [
    "[n] -> { S0[i, j] : 0 <= j <= i < n }",
    "[n] -> { S0[x, y] : 0 <= y <= x and x <= n - 1 }",
    "[n] -> { S0[i, j] : 0 <= i < n and not (j < 0 or j > i) }",
    isl.Set("[n] -> { S0[i, j] : 0 <= j <= i < n }")])
def test_equal_sets_are_right_however_they_are_written(answer):
    assert check(answer, DomainOf(scop=triangle())).state is State.RIGHT


@pytest.mark.parametrize(("answer", "said"), [
    ("[n] -> { S0[i, j] : 0 <= j < i < n }", "S0[0, 0] is an instance of the loops, and not in your set at n = 1"),
    ("[n] -> { S0[i, j] : 0 <= j <= i <= n }", "S0[1, 0] is in your set, and no instance of the loops at n = 1"),
    ("[n] -> { S0[i, j] : j <= i < n }", "is in your set, and no instance of the loops"),
    ("{ S0[i, j] : 0 <= j <= i < 5 }", "S0[5, 0] is an instance of the loops, and not in your set at n = 6"),
    ("[m] -> { S0[i, j] : 0 <= j <= i < m }", "m is no parameter of this program"),
    ("[n] -> { [i, j] : 0 <= j <= i < n }", "no instances of the statement"),
    ("[n] -> { S0[i] : 0 <= i < n }", "no instances of the statement"),
    ("[n] -> { S0[i, j] -> [i] }", "cannot read this as a set"),
    ("0 <= i < n", "cannot read this as a set"), ("", "cannot read this as a set"), (7, "quotation marks")])
def test_other_sets_are_wrong_with_a_point_or_a_reason(answer, said):
    verdict = check(answer, DomainOf(scop=triangle()))
    assert verdict.state is State.WRONG
    assert said in verdict.text


def test_a_step_is_part_of_the_domain():
    even = program("int n, double a[restrict n]", "for (int i = 0; i < n; i += 2) a[i] = 0.0;")
    assert check("[n] -> { S0[i] : 0 <= i < n and i mod 2 = 0 }", DomainOf(scop=even)).state is State.RIGHT
    verdict = check("[n] -> { S0[i] : 0 <= i < n }", DomainOf(scop=even))
    assert "S0[1] is in your set" in verdict.text


def test_counts_are_counted():
    question = CountOf(scop=triangle(), sizes={"n": 5})
    assert check(15, question).state is State.RIGHT
    assert check(14, question).text == "14 is too few"
    verdict = check(25, question)
    assert verdict.text == "25 is too many"
    assert verdict.hint.endswith("(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2): 6")


def test_formulas_are_tried_at_several_sizes():
    question = FormulaOf(scop=triangle())
    assert check(lambda n: n * (n + 1) / 2, question).state is State.RIGHT
    assert check(lambda n: n, question).text == "2 is not the number of instances at n = 2"
    assert check(lambda n: n * (n + 1) // 2 if n < 50 else 0, question).state is State.WRONG
    for answer in (lambda: 1, lambda n, m: n, 15, lambda n: "15", lambda n: None):
        assert check(answer, question).state is State.WRONG


def test_formulas_of_two_sizes_take_both_in_order():
    assert check(lambda T, n: T * (n - 2), FormulaOf(scop=steps())).state is State.RIGHT
    assert check(lambda T, n: n * (T - 2), FormulaOf(scop=steps())).state is State.WRONG


def test_the_first_point_has_the_least_sizes():
    assert first_point(isl.Set("[n] -> { S[i] : 2 < i < n }")) == ({"n": 4}, (3,))
    assert first_point(isl.Set("{ S[i] : i > 1000 }"))[1][0] > 1000
