"""Rows in step: several rows of a parallel loop share the loop inside; and teams only for enough work."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.emit_c.loop_ir.loops import Node
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tiling.tree.light_iterations import team_iterations
from tests.emit_c.compiled import load
from tests.emit_c.nodes import tiles

HEAD = "void f(int n, double A[restrict n][n], double x[restrict n], double y[restrict n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
MATVEC = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      y[i] += A[i][j] * x[j];"
TRIANGLE = MATVEC.replace("j < n", "j < i")


def emitted(body: str) -> CSource:
    return polysched.optimize(from_c_text(HEAD + body + TAIL), polysched.PipelineOptions(vector_bits=256)).source


def rows_in_step(loops: Node) -> set[int]:
    """How many rows the tiles along them have."""
    return {tile.edges[0].count for tile in tiles(loops) if tile.edges and tile.edges[0].variable.startswith("i")}


@pytest.mark.parametrize(("body", "jams"), [(MATVEC, True), (TRIANGLE, False)])
def test_rows_of_one_length_go_in_step(body: str, jams: bool, tmp_path: Path) -> None:
    made = emitted(body)
    assert rows_in_step(made.loops) == ({8} if jams else set())
    new = load(HEAD.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(HEAD + body + TAIL, tmp_path)
    for n in (1, 7, 8, 9, 150):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n)), random.random(n), random.random(n)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays[2])
        np.testing.assert_array_equal(*results)


def test_a_team_starts_for_enough_iterations_in_all() -> None:
    least = team_iterations(host())
    assert f"#pragma omp parallel for if((double)(n - 7) * (n - 3) >= {least})" in emitted(MATVEC).text
    assert f"if ((n >= 1) && ((double)(n - 1) * (n - 1) >= {least})) {{\n  #pragma omp parallel for" in (
        emitted(TRIANGLE).text)


def test_the_number_of_iterations_may_be_known() -> None:
    assert "#pragma omp parallel for\n" in emitted(MATVEC.replace("< n", "< 1024")).text
    assert "parallel" not in emitted(MATVEC.replace("< n", "< 16")).text


PREFIX = """for (int i = 0; i < n; i++) {
    A[i][0] = x[i];
    for (int j = 1; j < n; j++)
      A[i][j] = A[i][j] / (1.5 + A[i][j - 1]);
    for (int j = n - 2; j >= 0; j--)
      A[i][j] = 0.5 * A[i][j + 1] + A[i][j] * y[i];
  }"""
RECURRENCES = {
    PREFIX: True,
    "for (int i = 0; i < n; i++)\n    for (int j = 1; j < n - 1; j++)\n      A[i][j] += A[i][j - 1] * x[j];": True,
    "for (int i = 0; i < n; i++)\n    for (int j = 1; j < i; j++)\n      A[i][j] = A[i][j - 1] * x[j];": False,
    "for (int i = 1; i < n; i++)\n    for (int j = 1; j < n; j++)\n      A[i][j] = A[i][j - 1] * A[i - 1][j];": False,
    "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      A[i][j] = A[i][j] * x[j];": False,
}


@pytest.mark.parametrize("tile", ["auto", "off"])
@pytest.mark.parametrize("body", RECURRENCES)
def test_recurrences_along_independent_rows(body: str, tile: Literal["auto", "off"], tmp_path: Path) -> None:
    """Tiles or not: the loop over rows need not be the one that runs on threads."""
    made = polysched.optimize(from_c_text(HEAD + body + TAIL), polysched.PipelineOptions(
        vector_bits=256, tile=tile)).source
    assert (8 in rows_in_step(made.loops)) is RECURRENCES[body], made.text
    new = load(HEAD.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(HEAD + body + TAIL, tmp_path)
    for n in (1, 2, 7, 8, 9, 17, 150):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n)), random.random(n), random.random(n)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays[0])
        np.testing.assert_array_equal(*results)
