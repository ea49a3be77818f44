"""Rows that wait for the row before, in step some columns behind each other."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.loop_ir.traversal import instances
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import for_loops

HEAD = "void f(int n, int m, double A[restrict n][n], double x[restrict n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"


def rows(statement: str, i: str = "int i = 1; i < n - 1; i++", j: str = "int j = 1; j < n - 1; j++") -> str:
    return f"for ({i})\n    for ({j})\n      {statement}"


AVERAGE = "A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i + 1][j]) / 6;"
LAGS = {
    rows(AVERAGE): 2,
    rows(AVERAGE, j="int j = 1 + i % 3; j < n - 1; j++"): 2,
    rows("A[i][j] = A[i][j - 1] * x[j] + A[i - 1][j];"): 1,
    rows("A[i][j] = A[i][j - 1] * x[j] + A[i - 1][j + 1];", j="int j = 1; j <= i; j++"): 2,
    rows("A[i][j] = A[i][j - 1] * x[j] + A[i - 1][j + 1];", j="int j = i; j < n - 1; j++"): 2,
    f"for (int t = 0; t < m; t++) {rows(AVERAGE)}": 2,
    rows("x[j] = (x[j - 1] + x[j] + x[j + 1]) / 3;", i="int i = 0; i < m; i++"): 2,
    rows("{ A[i][j] = A[i][j - 1] + A[i - 1][j]; x[j] = A[i][j] * x[j - 1]; }"): 1,
}
ALONE = {
    "independent rows": rows("A[i][j] = A[i][j - 1] / x[j];"),
    "no recurrence along the row": rows("A[i][j] = A[i - 1][j] / x[j];"),
    "a sum": rows("x[i] += A[i][j] * x[j];", j="int j = 0; j < i; j++"),
    "too far behind": rows("A[i][j] = A[i][j - 1] + A[i - 1][j + 9];", j="int j = 1; j < n - 9; j++"),
    "the end of the row before": rows("A[i][j] = A[i][j - 1] + A[i - 1][n - 1 - j];"),
}


def _emitted(body: str, tiles: Literal["auto", "off"]) -> CSource:
    return polysched.optimize(from_c_text(HEAD + body + TAIL), polysched.PipelineOptions(
        vector_bits=256, tile=tiles)).source


@pytest.mark.parametrize("tiles", ["auto", "off"])
@pytest.mark.parametrize("body", [*LAGS, *ALONE.values()])
def test_rows_wait_for_the_row_before(body: str, tiles: Literal["auto", "off"], tmp_path: Path) -> None:
    made = _emitted(body, tiles)
    if tiles == "off":
        lag = LAGS.get(body, 0)
        steps = [loop for loop in for_loops(made.loops) if loop.variable == "j_step"]
        assert bool(steps) is (lag > 0), made.loops
        assert all(loop.forgets for loop in steps), "elements are not kept on the stack"
        assert ('__asm__("" ::: "memory")' in made.text) is (lag > 0), made.text
        for loop in steps:
            behind = {(variable("j_step") - i.iterators[-1]).constant for i in instances(loop)}
            assert behind == {lag * row for row in range(8)}, made.loops
    new = load(HEAD.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(HEAD + body + TAIL, tmp_path)
    for n, m in ((1, 1), (2, 9), (7, 3), (9, 8), (10, 17), (11, 2), (17, 9), (26, 16), (150, 20)):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n)), random.random(n)]
            library.f(ctypes.c_int(n), ctypes.c_int(m), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        np.testing.assert_array_equal(results[0][0], results[1][0])
        np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("vector_bits", [256, 512])
def test_a_product_by_a_triangle_in_one_sum(vector_bits: Literal[256, 512], tmp_path: Path) -> None:
    """Its tiles stand there several times, with loops in other orders, around the same statement."""
    head = "void f(int n, int m, int p, int *C, const unsigned char *A, const signed char *B)\n{\n#pragma scop\n"
    body = rows("for (int k = 0; k < i + 1; k++) C[i * m + j] += A[i * p + k] * B[k * m + j];",
                i="int i = 0; i < n; i++", j="int j = 0; j < m; j++")
    made = polysched.optimize(from_c_text(head + body + TAIL), polysched.PipelineOptions(
        vector_bits=vector_bits, tensorize=None)).source
    new = load(head.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(head + body + TAIL, tmp_path)
    rng = np.random.default_rng(1)
    for n, m, p in ((0, 3, 1), (1, 1, 1), (7, 5, 7), (33, 65, 40), (70, 131, 70)):
        a, b = rng.integers(0, 255, n * p + 1, dtype=np.uint8), rng.integers(-128, 127, n * m + 1, dtype=np.int8)
        results = [np.zeros(n * m + 1, dtype=np.int32) for _ in (new, old)]
        for library, c in zip((new, old), results, strict=True):
            library.f(n, m, p, *(ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)))
        assert np.array_equal(results[0], results[1]), (n, m, p)
