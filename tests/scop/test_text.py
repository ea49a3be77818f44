"""A Scop as text: arrays, statements with their accesses, assumptions, and the order as written."""

from __future__ import annotations

import islpy as isl

from polysched.scop import from_c_text
from polysched.scop.text import isl_tree_text, scop_text

SCOP = from_c_text("""void f(int n, double x[restrict n], double *y) {
#pragma scop
  double t;
  for (int i = 0; i < n; i++) {
    t = x[i];
    y[i] = t * t;
  }
#pragma endscop
}
""")


def test_every_part_is_named_once() -> None:
    lines = scop_text(SCOP).splitlines()
    assert "parameters: n" in lines
    assert "  float64 x[n] (argument)" in lines
    assert "  float64 t (local)" in lines
    assert [line for line in lines if line.startswith("statement ")] == [
        "statement S0, line 5:", "statement S1, line 6:"]
    assert sum(line.startswith("assumption ") for line in lines) == len(SCOP.assumptions)
    assert "schedule as written:" in lines


def test_accesses_say_what_they_do() -> None:
    text = scop_text(SCOP)
    for statement in SCOP.statements:
        for access in statement.accesses:
            assert f"  {access.kind.value} {access.reference}: " in text


def test_the_tree_can_be_read_back() -> None:
    text = isl_tree_text(SCOP.schedule)
    assert len(text.splitlines()) > 3
    assert isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text).plain_is_equal(SCOP.schedule)
