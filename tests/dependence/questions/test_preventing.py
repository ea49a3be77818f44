"""Which pairs prevent what, as isl relations."""

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active
from polysched.dependence.questions.preventing import (
    across,
    against_interchange,
    against_lanes,
    against_tiles,
    merged,
)
from polysched.dependence.questions.program_loops import loops_of
from polysched.scop import from_c_text


def nest(body: str, *, inner: str = "for (int j = 2; j < 8; j++)") -> Dependences:
    """Two loops over 6 x 6 iterations around a body."""
    return analyse(from_c_text(f"""void f(double A[10][10], double B[10][10]) {{
#pragma scop
  for (int i = 2; i < 8; i++)
    {inner} {{ {body} }}
#pragma endscop
}}"""))


def union(parts: list[Active]) -> isl.UnionMap:
    found = isl.UnionMap("{ }")
    for part in parts:
        found = found.union(isl.UnionMap.from_map(part.relation))
    return found


@pytest.mark.parametrize(("body", "loop", "pairs"), [
    ("A[i][j] = A[i][j-1];", 0, "{ }"),
    ("A[i][j] = A[i][j-1];", 1, "{ S0[i, j] -> S0[i, j + 1] : 2 <= i < 8 and 2 <= j < 7 }"),
    ("A[i][j] = A[i-2][j];", 0, "{ S0[i, j] -> S0[i + 2, j] : 2 <= i < 6 and 2 <= j < 8 }"),
])
def test_a_parallel_loop_carries_nothing(body: str, loop: int, pairs: str) -> None:
    dependences = nest(body)
    assert union(across(dependences, loops_of(dependences.scop)[loop])).is_equal(isl.UnionMap(pairs))


@pytest.mark.parametrize(("body", "pairs"), [
    ("A[i][j] = 1; B[i][j] = A[i][j-1];", "{ }"),                 # every lane stores before any loads
    ("B[i][j] = A[i][j-1]; A[i][j] = 1;", "{ S1[i, j] -> S0[i, j + 1] : 2 <= i < 8 and 2 <= j < 7 }"),
    ("A[i][j] = A[i][j+1];", "{ }"),                               # one assignment reads before it writes
    ("A[i][j] = A[i][j-1];", "{ S0[i, j] -> S0[i, j + 1] : 2 <= i < 8 and 2 <= j < 7 }"),
])
def test_lanes_take_every_step_together(body: str, pairs: str) -> None:
    dependences = nest(body)
    assert union(against_lanes(dependences, loops_of(dependences.scop)[1])).is_equal(isl.UnionMap(pairs))


def test_lanes_of_an_outer_loop_go_through_the_loop_inside() -> None:
    for column, blocked in ((-1, False), (1, True)):   # the inner loop runs forward, so later columns come too late
        dependences = nest(f"A[i][j] = A[i-1][j+({column})];")
        outer = loops_of(dependences.scop)[0]
        assert bool(across(dependences, outer))
        assert bool(against_lanes(dependences, outer)) == blocked


@pytest.mark.parametrize(("body", "blocked"), [
    ("A[i][j] = A[i-1][j+1];", True), ("A[i][j] = A[i-1][j-1];", False), ("A[i][j] = A[i][j-1] + A[i-1][j];", False)])
def test_interchange_and_tiles_of_two_loops(body: str, blocked: bool) -> None:
    dependences = nest(body)
    loops = loops_of(dependences.scop)
    backward = isl.UnionMap("{ S0[i, j] -> S0[i + 1, j - 1] : 2 <= i < 7 and 3 <= j < 8 }")
    expected = backward if blocked else isl.UnionMap("{ }")
    assert union(against_interchange(dependences, *loops)).is_equal(expected)
    for loop in loops:
        assert union(against_tiles(dependences, loops, loop)).is_equal(expected)


def test_a_loop_that_counts_down_runs_other_pairs_backward() -> None:
    dependences = nest("A[i][j] = A[i-1][j-1];", inner="for (int j = 7; j >= 2; j--)")
    assert against_interchange(dependences, *loops_of(dependences.scop))


def test_parts_of_one_dependence_are_one_entry() -> None:
    dependences = nest("A[i][j] = A[i-1][j];")
    (part,) = across(dependences, loops_of(dependences.scop)[0])
    (one,) = merged([part, part])
    assert one.relation.is_equal(part.relation)
