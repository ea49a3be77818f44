"""Sums along rows that need the rows before only at their ends."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import tiles

HEAD = "void f(int n, double A[restrict n][n], double x[restrict n], double b[restrict n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
SOLVE = """for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) x[i] -= A[i][j] * x[j];
    x[i] = x[i] / (A[i][i] + 1);
  }"""
IN_STEP = {
    "forward substitution": SOLVE,
    "a band of the matrix": SOLVE.replace("int j = 0", "int j = 3"),
    "with a start of its own": SOLVE.replace("{\n", "{ x[i] = b[i];\n", 1),
    "from the second row on": SOLVE.replace("int i = 0", "int i = 1"),
    "with a column, which has no lanes": SOLVE.replace("A[i][j]", "A[i][j] * A[j][i]"),
}
ALONE = {
    "the newest value comes first": SOLVE.replace("x[j];", "x[i - 1 - j];"),
    "rows that shrink": SOLVE.replace("j < i", "j < n - i").replace("x[j]", "x[i - 1]").replace(
        "int i = 0", "int i = 1"),
    "the start needs the row before": SOLVE.replace("{\n", "{ x[i] = b[i] + x[i - 1];\n", 1).replace(
        "int i = 0", "int i = 1"),
    "the end of a row is overwritten": SOLVE.replace("x[i] = x[i] /", "b[i] = x[0]; x[0] = x[i] /").replace(
        "int i = 0", "int i = 1"),
}


@pytest.mark.parametrize("case", [*IN_STEP, *ALONE])
def test_sums_go_in_step(case: str, tmp_path: Path) -> None:
    body = {**IN_STEP, **ALONE}[case]
    made = polysched.optimize(from_c_text(HEAD + body + TAIL), polysched.PipelineOptions(vector_bits=256)).source
    in_step = {tile.edges[0].count for tile in tiles(made.loops) if tile.edges[:1] and tile.edges[0].variable != "j"}
    assert in_step == ({8} if case in IN_STEP else set()), made.text
    new = load(HEAD.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(HEAD + body + TAIL, tmp_path)
    for n in (1, 2, 7, 8, 9, 16, 17, 150):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n)), random.random(n), random.random(n)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(("bits", "rows"), [(128, 4), (256, 8), (512, 16)])
def test_lanes_that_lie_apart_make_blocks_of_two_vectors(bits: int, rows: int, tmp_path: Path) -> None:
    head = HEAD.replace("A[restrict n][n]", "A[restrict n][2 * n]")
    body = SOLVE.replace("A[i][j]", "A[j][2 * i]").replace("A[i][i]", "b[i]")
    made = polysched.optimize(from_c_text(head + body + TAIL), polysched.PipelineOptions(
        vector_bits=bits, scheduler="original")).source
    assert {tile.edges[0].count for tile in tiles(made.loops) if tile.edges} == {rows}, made.text
    new = load(head.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(head + body + TAIL, tmp_path)
    for n in (1, rows - 1, rows, rows + 1, 3 * rows + 1):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, 2 * n)), random.random(n), random.random(n)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(mine, theirs)
