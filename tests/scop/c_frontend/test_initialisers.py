"""Initial values of local arrays are assignments of every element, at each entry, converted to the element's type."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from tests.scop.c_frontend.differences import check
from tests.scop.c_frontend.one_region import one

PROGRAMS = [
    "for (int i = 0; i < 10; i++) { int t[4] = {i, n}; t[2] += 5; t[3]--; A[i] = t[0] + t[1] * 10 + t[2] + t[3]; }",
    "for (int i = 0; i < 10; i++) { unsigned char t[4] = {i * 100, -1, 3.7}; A[i] = t[0] + t[1] * 10 + t[2] + t[3]; }",
    "int t[2][2] = {{1}, {2, 3}}; for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) A[i * 2 + j] = t[i][j];",
    "int t[] = {1, 2, n}; for (int i = 0; i < 3; i++) A[i] = t[i];",
    "double t[3] = {1, A[2]}; for (int i = 0; i < 3; i++) X[i] = t[i] / 2;",
    "_Bool t[3] = {2, A[2], 0.5}; for (int i = 0; i < 3; i++) A[i] = t[i];",
    "for (int k = 0; k < 2; k++) { int t[40] = {7, [0] = 7}; A[k] = t[0]; }",
    "for (int k = 0; k < 2; k++) { int t[40] = {7, 0, n}; A[k] = t[0] + t[2] * t[39]; t[39] = 5; A[k + 2] = t[39]; }",
    "for (int k = 0; k < 2; k++) { short t[5][9] = {{1}, {2, 70000}}; A[k] = t[0][0] + t[1][1]; t[4][8] -= k; "
    "for (int i = 0; i < 5; i++) for (int j = 0; j < 9; j++) A[i * 9 + j + 2] += t[i][j]; }",
]


def test_every_element_has_the_value_that_c_gives_it(tmp_path: Path) -> None:
    check([p for p in PROGRAMS if "[0] =" not in p], tmp_path, sizes=({"n": 7}, {"n": -1}),
          refused=[p for p in PROGRAMS if "[0] =" in p])


@pytest.mark.parametrize(("text", "problem"), [
    ("int t[4] = {1, [3] = 2};", "with designators, or more"),
    ("int t[2] = {1, 2, 3};", "with designators, or more"),
    ("int t[2][2] = {1, 2, 3};", "several dimensions in one flat list"),
    ("int t[n] = {1};", "no constant size"),
])
def test_lists_that_are_not_read_are_refused(text: str, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        one(f"{text} A[0] = t[0];")
