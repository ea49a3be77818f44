from __future__ import annotations

import pytest

from polysched.notebook.tutorial.answers import State, check
from polysched.notebook.tutorial.programs import ParallelProgram, ReductionsOf
from polysched.scop import from_c_text
from tests.notebook.tutorial.programs_asked_about import program

ORIGINAL = """
void f(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  double t;
  for (int i = 0; i < n; i++) {
    t = a[i] * a[i];
    b[i] = t + 1.0;
  }
#pragma endscop
}
"""
EXPANDED = ORIGINAL.replace("double t;", "double t[n];").replace("t =", "t[i] =").replace("= t +", "= t[i] +")


@pytest.fixture(scope="module")
def question():
    return ParallelProgram(original=from_c_text(ORIGINAL), loop="i", sizes={"n": 6})


def test_a_program_that_agrees_and_is_parallel_is_right(question):
    assert check(EXPANDED, question).state is State.RIGHT
    assert check("""void f(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) b[i] = a[i] * a[i] + 1.0;
#pragma endscop
}""", question).state is State.RIGHT


@pytest.mark.parametrize(("text", "said"), [
    (ORIGINAL, "loop i still carries a dependence on t"),
    (EXPANDED.replace("t[i]", "t[0]"), "loop i still carries a dependence on t"),
    (EXPANDED.replace("1.0", "2.0"), "it computes something else: b[0] is"),
    (EXPANDED.replace("i = 0", "i = 1"), "it computes something else: b[0] is"),
    (EXPANDED.replace("double b", "float b"), "should take the same sizes and arrays"),
    (EXPANDED.replace("int n", "int n, int m").replace("i < n", "i < m"), "has another size, m"),
    (EXPANDED.replace("i++", "i--"), ""), (EXPANDED.replace("for (int i", "for (int x").replace("i < n; i", "x < n; x")
                                           .replace("[i]", "[x]"), "no loop"),
    (EXPANDED.replace("#pragma scop\n", ""), ""), ("int", ""), ("", "")])
def test_other_programs_are_wrong(question, text, said):
    verdict = check(text, question)
    assert verdict.state is State.WRONG
    assert said in verdict.text


def test_reductions_are_those_of_the_analysis():
    scop = program("int n, double s[restrict 1], double a[restrict n], double p[restrict n]",
                   "for (int i = 1; i < n; i++) { s[0] += a[i]; p[i] = p[i - 1] + a[i]; }")
    question = ReductionsOf(scop=scop)
    assert check({"S0"}, question).state is State.RIGHT
    assert check({"S0", "S1"}, question).text == "S1 is no reduction"
    assert check(set(), question).text == "S0 is a reduction, too"
    assert check({"S7"}, question).state is State.WRONG
