"""Loops whose iterations may run twice: those that read nothing that they write."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.nests.repeated_iterations import anchor
from polysched.scop import from_c_text

LOOP = parse_loops("for j in range(0, m): S0(i, j)")


def anchored(body: str) -> object:
    scop = from_c_text(f"""void f(int n, int m, float A[n][m + 2], float B[n][m + 2], int k[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {body}
#pragma endscop
}}""")
    assert isinstance(LOOP, For)
    return anchor(scop, {}, LOOP, 8)


@pytest.mark.parametrize("body", ["A[i][j] = B[i][j];", "A[i][j + 1] = B[i][0] * 2;", "A[i][j] = 1;"])
def test_a_loop_that_only_writes_has_a_place(body: str) -> None:
    found = anchored(body)
    assert found is not None
    assert (found.element_bytes, found.boundary_bytes) == (4, 32)


@pytest.mark.parametrize("body", [
    "A[i][j] += B[i][j];",             # again would add twice
    "A[i][j] = A[i][j + 1];",
    "A[0][j] = A[k[i]][j];",           # perhaps the same row
    "A[i][m - j] = B[i][j];",          # no vector is stored there
    "A[j][i] = B[i][j];",
])
def test_others_have_none(body: str) -> None:
    assert anchored(body) is None


def test_rows_that_differ_are_told_apart() -> None:
    assert anchored("A[i][j] = A[i + 1][j];") is not None
