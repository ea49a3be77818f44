"""The schedule as written: legal, in the order of the source, with exact flags."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.scheduling import original
from polysched.scheduling.tree.tree_text import band_list
from polysched.scop import from_c_text
from polysched.scop.points import instances_in_order

TEXT = """void f(int n, double x[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = 1;
    for (int j = 0; j < i; j++)
      y[i] += x[j];
  }
#pragma endscop
}
"""


def test_instances_run_as_the_source_says() -> None:
    scop = from_c_text(TEXT)
    made = original(analyse(scop))
    assert made.algorithm == "original"
    names = [s.name for s in scop.statements]
    found = list(instances_in_order(made.scop.domain, made.tree, {"n": 3}, names))
    assert [(name, tuple(point)) for name, point in found] == [
        ("S0", (0,)), ("S0", (1,)), ("S1", (1, 0)), ("S0", (2,)), ("S1", (2, 0)), ("S1", (2, 1))]


def test_loops_that_carry_nothing_are_parallel() -> None:
    made = original(analyse(from_c_text(TEXT.replace("x[j]", "2"))))
    outer, inner = band_list(made.tree)[:2]
    assert outer["members"][0]["parallel"]
    assert not inner["members"][0]["parallel"], "a sum"


def test_nothing_was_solved_for_it() -> None:
    report = original(analyse(from_c_text(TEXT))).report
    assert (report.solves, report.variables) == (0, 0)
