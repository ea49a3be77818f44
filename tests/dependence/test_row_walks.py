"""Nested loops that walk whole rows: which they are, and how an element is spelled by one subscript."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.dependence.row_walks import consistent, flat_element, joining, joint_iterator, row_loops
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

TEXT = """void f(int n, float A[n][16], float B[n + 1][16]) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = {low}; j < {high}; j++)
      {statement}
#pragma endscop
}}
"""


def program(statement: str = "A[i][j] = B[i][j];", low: str = "0", high: str = "16") -> Scop:
    return from_c_text(TEXT.format(statement=statement, low=low, high=high))


def test_rows_of_arrays_are_walked_whole() -> None:
    (pair,) = row_loops(program())
    assert (pair.row, pair.position) == (16, {"S0": 0})
    assert all(shift.is_zero for shift in pair.walked.values())
    assert len(pair.walked) == 2


def test_the_row_below_may_be_read_and_not_written() -> None:
    (pair,) = row_loops(program("A[i][j] = B[i + 1][j];"))
    assert sorted(shift.constant for shift in pair.walked.values()) == [0, 1]
    assert consistent(program("A[i][j] = B[i + 1][j];"), [pair]) == [pair]
    scop = program("A[i][j] = A[i + 1][j];".replace("A[i + 1]", "B[i]"))
    assert consistent(scop, list(row_loops(scop)))


@pytest.mark.parametrize(("statement", "low", "high"), [
    ("A[i][j] = B[i][j];", "1", "16"),       # not from the first column
    ("A[i][j] = B[i][j];", "0", "15"),       # not to the last one
    ("A[i][j] = B[i][j];", "0", "i"),        # rows of several lengths
    ("A[i][j] = B[i][15 - j];", "0", "16"),  # backwards
    ("A[i][j] = B[j][i];", "0", "16"),       # across
    ("A[i][j] = B[i][j] + i;", "0", "16"),   # the iterator is a value
])
def test_other_loops_walk_no_rows(statement: str, low: str, high: str) -> None:
    assert list(row_loops(program(statement, low, high))) == []


@pytest.mark.parametrize(("element", "flat"), [
    ("", "((const float *)B)[{}]"),
    ("B[{}][{}]", "((const float *)B)[{}]"),
    ("p->B[{}][{}]", "((const float *)p->B)[{}]"),
    ("B[{} * 16 + {}]", None),
    ("B[{}][{}].re", None),
])
def test_an_element_by_one_subscript(element: str, flat: str | None) -> None:
    array = replace(program().array("B"), c_element=element, constant=True, own_type=True)
    assert flat_element(array) == flat


def test_a_type_of_the_program_forbids_a_pointer_of_another() -> None:
    array = replace(program().array("B"), c_element="B[{}][{}]", own_type=False)
    assert flat_element(array) is None


def test_the_joint_iterator_is_named_after_both() -> None:
    scop = program()
    assert joint_iterator(scop, scop.statements[0], 0) == "ij"
    taken = replace(scop, arrays=tuple(replace(a, name="ij") if a.name == "A" else a for a in scop.arrays))
    assert joint_iterator(taken, scop.statements[0], 0) == "ij_"


def test_rows_become_stretches_of_one_loop() -> None:
    relation = joining("S0", 3, 1, 16)
    assert str(relation.intersect_domain(relation.domain())).count("16i1") == 1
