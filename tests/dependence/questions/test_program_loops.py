"""The loops of a program by name, and which stand directly inside which."""

import pytest

from polysched.dependence import analyse
from polysched.dependence.questions.program_loops import (
    active_in,
    beside,
    inner_neighbour,
    loops_named,
    loops_of,
    nest_of,
    outer_neighbour,
)
from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

TWO = """void f(int n, double A[n][n], double B[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = n - 1; j >= 0; j--)
      A[i][j] += 1;
  for (int i = 0; i < n; i++) {
    B[i] = 0;
    for (int k = 0; k < n; k++)
      B[i] += A[i][k];
  }
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def scop() -> Scop:
    return from_c_text(TWO)


def test_loops_in_the_order_of_the_program(scop: Scop) -> None:
    assert [str(loop) for loop in loops_of(scop)] == [
        "loop i around S0, line 6", "loop j around S0, line 6", "loop i around S1, S2, line 8",
        "loop k around S2, line 10"]
    assert [loop.counts for loop in loops_of(scop)] == ["i", "-j", "i", "k"]


def test_neighbours_are_perfectly_nested(scop: Scop) -> None:
    i, j, second, k = loops = loops_of(scop)
    assert inner_neighbour(loops, i) is j
    assert outer_neighbour(loops, j) is i
    assert inner_neighbour(loops, second) is None
    assert outer_neighbour(loops, k) is None
    assert nest_of(loops, j) == (i, j)
    assert nest_of(loops, k) == (k,)


def test_what_stands_beside_a_loop_is_told(scop: Scop) -> None:
    loops = loops_of(scop)
    assert beside(loops, loops[2]) == "i holds S1 and the loop k around S2, line 10, so no loop is alone inside it"
    assert beside(loops, loops[0]) == beside(loops, loops[3]) == ""


def test_active_are_pairs_in_one_iteration_of_the_loops_around(scop: Scop) -> None:
    dependences = analyse(scop)
    (k,) = loops_named(scop, "k")
    assert {part.dependence.source for part in active_in(dependences, k)} == {"S2"}


def test_an_unknown_loop_is_refused_with_those_that_there_are(scop: Scop) -> None:
    with pytest.raises(UsageError, match=r"no loop x\n.*witness: loop i around S0, line 6; loop j"):
        loops_named(scop, "x")
