"""Short loops written out: one statement per iteration, in the same order, or none where loops are not short."""

from __future__ import annotations

import pytest

from polysched.dependence.unrolling import MOST_POINTS, is_short, write_out
from polysched.scop import from_c_text
from polysched.scop.points import instances_in_order
from polysched.scop.scop import Scop

TEXT = """void f(int n, double x[n + 64], double y[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    double s = 0;
    for (int q = 0; q < {count}; q++)
      s += x[i + q];
    y[i] = s;
  }}
#pragma endscop
}}
"""


def program(count: str = "3") -> Scop:
    return from_c_text(TEXT.format(count=count))


def test_each_iteration_becomes_a_statement() -> None:
    made = write_out(program(), {"S1": (1,)})
    assert made is not None
    assert [s.name for s in made.scop.statements] == ["S0", "S1_0", "S1_1", "S1_2", "S2"]
    assert [s.depth for s in made.scop.statements] == [1, 1, 1, 1, 1]
    assert len({a.reference for s in made.scop.statements for a in s.accesses}) == sum(
        len(s.accesses) for s in made.scop.statements), "references stay unique"


def test_the_order_is_the_same() -> None:
    before, made = program(), write_out(program(), {"S1": (1,)})
    assert made is not None

    def order(scop: Scop) -> list:
        return list(instances_in_order(scop.domain, scop.schedule, {"n": 3}, [s.name for s in scop.statements]))
    old = [(name, tuple(point)) for name, point in order(before)]
    new = [("S1", (*point, int(name[3:]))) if name.startswith("S1") else (name, tuple(point))
           for name, point in order(made.scop)]
    assert new == old


@pytest.mark.parametrize(("count", "short"), [
    ("3", True), (str(MOST_POINTS), True), (str(MOST_POINTS + 1), False), ("n", False), ("i", False)])
def test_few_constant_iterations_are_short(count: str, short: bool) -> None:
    scop = program(count)
    assert is_short(scop, scop.statement("S1"), (1,)) is short
    assert (write_out(scop, {"S1": (1,)}) is not None) is short


def test_nothing_to_write_out() -> None:
    assert write_out(program(), {}) is None


@pytest.mark.parametrize(("dtype", "step", "short"), [
    ("int", 32, False),     # lanes belong along the rows of 32
    ("int", 3, True),       # three channels of a pixel
    ("double", 32, True),   # added in order, so that only the loop around has lanes
])
def test_sums_of_integers_along_rows_stay_loops(dtype: str, step: int, short: bool) -> None:
    text = TEXT.replace("double", dtype).replace("x[n + 64]", "x[64 * n]").replace("x[i + q]", f"x[{step} * i + q]")
    scop = from_c_text(text.format(count="3"))
    assert is_short(scop, scop.statement("S1"), (1,)) is short
