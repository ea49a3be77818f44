"""Rows as lanes of vectors: blocks transposed in registers, every sum in its own order."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HEAD = "void f(int n, int m, T A[restrict n][m], T B[restrict n][m], T x[restrict m], T y[restrict n])\n{\n"
PROGRAMS = {
    "product": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];",
    "from the middle": ("for (int i = 0; i < n; i++) for (int j = 3; j < m - 1; j++)"
                        " y[i] = y[i] / 2 - A[i][j + 1] * A[i][j];"),
    "two matrices": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * B[i][j] + x[j];",
}


def emitted(body: str, kind: str, vector_bits: int) -> str:
    text = f"{HEAD.replace('T ', kind + ' ')}#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=vector_bits)).text


@pytest.mark.parametrize(("program", "kind", "vector_bits"), [
    ("product", "double", 512), ("product", "double", 128), ("product", "float", 256), ("two matrices", "double", 512),
    ("from the middle", "int", 256), ("from the middle", "double", 512)])
def test_every_number_is_as_before(program: str, kind: str, vector_bits: int, tmp_path: Path) -> None:
    body = PROGRAMS[program]
    region = emitted(body, kind, vector_bits)
    assert "__builtin_shufflevector" in region     # sums of int would be reduced in lanes, whatever their order
    head = HEAD.replace("T ", kind + " ")
    new = load(f"{head}{region}}}\n", tmp_path, strict=False)
    old = load(f"{head}{body}\n}}\n", tmp_path)
    dtype = {"double": np.float64, "float": np.float32, "int": np.int32}[kind]
    for n, m in ((33, 31), (16, 16), (8, 7), (7, 40), (1, 1)):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [(random.random(shape) * 200 - 100).astype(dtype) for shape in ((n, m), (n, m), m, n)]
            library.f(ctypes.c_int(n), ctypes.c_int(m), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays[3])
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("body", [
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += x[j];",
    "for (int i = 0; i < n; i++) for (int j = 0; 2 * j < m; j++) y[i] += A[i][2 * j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < i && j < m; j++) y[i] += A[i][j];",
])
def test_only_squares_of_rows_of_one_length_are_transposed(body: str) -> None:
    assert "__builtin_shufflevector" not in emitted(body, "double", 512)
