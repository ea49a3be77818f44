"""Iterations that an instruction leaves out."""

import pytest

from polysched.tensorize.proofs.instances import instances
from tests.tensorize.described import matched, program, unit

TEXT = "for (int i = 0; i < 4; i++) for (int k = {first}; k < {end}; k++) C[i] += A[i][k];"


@pytest.mark.parametrize(("first", "end", "points"), [
    ("0", "i + 1", 10), ("i", "4", 10), ("0", "4", 16), ("1", "i", 3)])
def test_instances_are_those_of_the_loops(first: str, end: str, points: int) -> None:
    own = unit("part", "int32_t C[4], const int32_t A[4][4]", TEXT.format(first=first, end=end))
    assert instances(own).count_val().to_python() == points


def test_the_first_point_outside_is_named() -> None:
    own = unit("lower", "int32_t C[4], const int32_t A[4][4]", TEXT.format(first="0", end="i + 1"))
    found = matched(program("int32_t D[4], int32_t B[4][4]", TEXT.format(first="0", end="4").replace(
        "C[", "D[").replace("A[", "B[")), own)
    assert found.count == 0
    assert "lower computes nothing at (i = 0, k = " in str(found.explanations[0])
