"""Loops over the rows of a set, as C: each row once, with its first and last element."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import pytest

from polysched.emit_c.alternatives.row_loops import point_loops, row_loops
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

SCOP = from_c_text("void f(int n, float A[n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    A[i][i] = 1;\n"
                   "#pragma endscop\n}\n")
LOG = "static long seen[4096]; static int count; long at(int k) { return seen[k]; }\n"


def run(lines: list[str], n: int, folder: Path) -> list[int]:
    body = "\n".join(lines)
    library = load(f"{LOG}int run(int n) {{ (void)n; count = 0;\n{body}\nreturn count; }}\n", folder, strict=False)
    library.at.restype = ctypes.c_long
    return [library.at(k) for k in range(library.run(n))]


def rows(text: str, n: int, folder: Path) -> list[tuple[int, int, int]]:
    given = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[n] -> {{ {text} }}")
    found = run(row_loops(SCOP, given, ["r"], lambda e: [f"seen[count++] = {x};" for x in e]), n, folder)
    return list(zip(found[::3], found[1::3], found[2::3], strict=True))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_triangle(n: int, tmp_path: Path) -> None:
    assert rows("A[i, j] : 0 <= i < n and 0 <= j <= i", n, tmp_path) == [(i, 0, i) for i in range(n)]


def test_rows_in_two_places(tmp_path: Path) -> None:
    found = rows("A[i, j] : (i = 0 or i = n - 1) and 0 <= j < n", 5, tmp_path)
    assert sorted(found) == [(0, 0, 4), (4, 0, 4)]


def test_a_row_in_pieces_is_as_long_as_all_of_them(tmp_path: Path) -> None:
    found = rows("A[i, j] : 0 <= i < n and (j = 0 or j = n - 1)", 4, tmp_path)
    assert found == [(i, 0, 3) for i in range(4)]


def test_no_row_is_visited_that_is_not_there(tmp_path: Path) -> None:
    found = rows("A[i, j] : 0 <= i < n and i mod 3 = 0 and 0 <= j < n", 8, tmp_path)
    assert [r for r, _, _ in found] == [0, 3, 6]


@pytest.mark.parametrize("n", [1, 4])
def test_every_point_of_a_set(n: int, tmp_path: Path) -> None:
    points = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { [i, j] : 0 <= i < n and i <= j < n }")
    found = run(point_loops(SCOP, points, ["i", "j"], ["seen[count++] = 10 * i + j;"]), n, tmp_path)
    assert found == [10 * i + j for i in range(n) for j in range(i, n)]


@pytest.mark.parametrize(("n", "count"), [(3, 0), (4, 1)])
def test_a_point_without_coordinates_is_a_condition(n: int, count: int, tmp_path: Path) -> None:
    points = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { [] : n >= 4 }")
    assert len(run(point_loops(SCOP, points, [], ["seen[count++] = 1;"]), n, tmp_path)) == count
