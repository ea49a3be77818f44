"""Rows that wait for the row before, in step some columns behind each other."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

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


def _emitted(body: str, tiles: Literal["auto", "off"]) -> str:
    return polysched.optimize(from_c_text(HEAD + body + TAIL), polysched.PipelineOptions(
        vector_bits=256, tile=tiles)).text


@pytest.mark.parametrize("tiles", ["auto", "off"])
@pytest.mark.parametrize("body", [*LAGS, *ALONE.values()])
def test_rows_wait_for_the_row_before(body: str, tiles: Literal["auto", "off"], tmp_path: Path) -> None:
    text = _emitted(body, tiles)
    if tiles == "off":
        lag = LAGS.get(body, 0)
        assert ("_step - " in text) is (lag > 0), text
        assert not lag or f"j_step - {7 * lag}]" in text, text
        assert ('__asm__("" ::: "memory")' in text) is (lag > 0), text   # elements are not kept on the stack
    new = load(HEAD.replace("#pragma scop\n", "") + text + "}\n", tmp_path)
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
