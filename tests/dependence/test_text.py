"""Dependences as text: one line each, without what the context says anyway."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.dependence.text import dependences_text
from polysched.scop import from_c_text

TEXT = """void f(int n, double x[n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    x[i] = x[i - 1] + x[i];
#pragma endscop
}
"""


def test_one_line_per_pair() -> None:
    made = analyse(from_c_text(TEXT))
    lines = dependences_text(made).splitlines()
    assert len(lines) == len(made.pairs)
    assert all(" on x: " in line and "{ S0[i] -> S0[" in line for line in lines)


def test_limits_of_types_are_not_told() -> None:
    made = analyse(from_c_text(TEXT))
    assert "2147483647" not in dependences_text(made)


def test_a_program_without_dependences_has_no_text() -> None:
    assert dependences_text(analyse(from_c_text(TEXT.replace("x[i - 1] + x[i]", "2.0")))) == ""
