"""Programs as they stand in C files, with pointers and unknown sizes: one function computes them all, as before."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize.compiled import AS_WRITTEN
from tests.tensorize.test_any_size import loaded

PRODUCT = """#include <stdint.h>
void product(int m, int n, int q, int32_t *restrict C, const uint8_t *restrict A, const int8_t *restrict B{more})
{{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < q; k++)
                C[{c}] += A[{a}] * B[{b}];
#pragma endscop
}}
"""
SIZES = ((1, 1, 1), (2, 3, 2), (7, 8, 9), (37, 41, 43), (36, 48, 64), (97, 16, 130), (12, 131, 2))


def transformed(text: str, intrinsic: str, folder: Path) -> str:
    """The file behind the transformation, which takes the instruction whether it pays or not."""
    (folder / "program.c").write_text(text)
    done = transform_file(folder / "program.c", PipelineOptions(
        verify_instructions="never", tensorize=TensorizeOptions(intrinsic=intrinsic), **AS_WRITTEN))
    assert f"by {intrinsic} */" in done.text, done.regions[0].instructions
    return re.sub(r"    if \(!\([^;]*\(double\)[^;]* >= [^;]*\)\) return 0;\n", "", done.text)


@pytest.mark.parametrize(("c", "a", "b", "lead"), [
    ("i * n + j", "i * q + k", "k * n + j", 0), ("i * n + j", "i * q + k", "j * q + k", 0),
    ("i * n + j", "(i + m) * q + k", "k * n + j", 0), ("i * lc + j", "i * la + (q - 1 - k)", "k * lb + j", 5),
    ("i * lc + j", "i * la + k", "k * lb + j", 5)])
def test_rows_that_are_addressed_by_one_sum(c: str, a: str, b: str, lead: int, tmp_path: Path) -> None:
    """Rows of unknown length, reversed and transposed, or longer than what is used of them."""
    more = ", int la, int lb, int lc" if lead else ""
    library = loaded(transformed(PRODUCT.format(c=c, a=a, b=b, more=more), "vpdpbusd", tmp_path), tmp_path)
    chooser = np.random.default_rng(3)
    for m, n, q in SIZES:
        rows = 2 * m if "m" in a else m
        x = chooser.integers(0, 256, (rows, q + lead)).astype(np.uint8)
        w = chooser.integers(-128, 128, (n, q) if b[0] == "j" else (q, n + lead)).astype(np.int8)
        y = chooser.integers(-(1 << 31), 1 << 31, (m, n + lead)).astype(np.int32)
        left, right = x[rows - m:, :q].astype(np.int64), w.T if b[0] == "j" else w[:, :n]
        added = (left[:, ::-1] if "q - 1" in a else left) @ right.astype(np.int64)
        wanted = y.copy()
        wanted[:, :n] = (y[:, :n] + added).astype(np.int32)
        sizes = (q + lead, n + lead, n + lead) if lead else ()
        library.product(m, n, q, *(ctypes.c_void_p(v.ctypes.data) for v in (y, x, w)), *sizes)
        np.testing.assert_array_equal(y, wanted, err_msg=f"{m} {n} {q}")


def test_a_complex_product_is_several(tmp_path: Path) -> None:
    """What one statement adds are products of their own, at every size."""
    text = """#include <stdint.h>
void product(int m, int n, int q, int32_t R[m][n], int32_t I[m][n], const int16_t A[m][q], const int16_t B[m][q],
             const int16_t X[q][n], const int16_t Y[q][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < q; k++) {
                R[i][j] += A[i][k] * X[k][j] - B[i][k] * Y[k][j];
                I[i][j] += A[i][k] * Y[k][j] + B[i][k] * X[k][j];
            }
#pragma endscop
}
"""
    made = transformed(text, "vpmaddwd", tmp_path)
    assert made.count("by vpmaddwd */") >= 3
    library, chooser = loaded(made, tmp_path), np.random.default_rng(4)
    for m, n, q in SIZES:
        a, b, x, y = (chooser.integers(-(1 << 15), 1 << 15, shape).astype(np.int16)
                      for shape in ((m, q), (m, q), (q, n), (q, n)))
        r, i = (chooser.integers(-(1 << 31), 1 << 31, (m, n)).astype(np.int32) for _ in range(2))
        w = [v.astype(np.int64) for v in (a, b, x, y)]
        wanted = [(r + w[0] @ w[2] - w[1] @ w[3]).astype(np.int32), (i + w[0] @ w[3] + w[1] @ w[2]).astype(np.int32)]
        library.product(m, n, q, *(ctypes.c_void_p(v.ctypes.data) for v in (r, i, a, b, x, y)))
        np.testing.assert_array_equal(r, wanted[0], err_msg=f"{m} {n} {q}")
        np.testing.assert_array_equal(i, wanted[1], err_msg=f"{m} {n} {q}")


def test_sums_that_meet_are_added_at_every_size(tmp_path: Path) -> None:
    """A scattered convolution: images that overlap, an epilogue behind it."""
    text = """#include <stdint.h>
void product(int m, int n, int q, int32_t Y[m + 3][n], const uint8_t X[m][q], const int8_t W[4][q][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < q; c++)
                for (int k = 0; k < n; k++)
                    Y[i + r][k] += X[i][c] * W[r][c][k];
    for (int i = 0; i < m + 3; i++)
        for (int k = 0; k < n; k++)
            Y[i][k] = Y[i][k] > 0 ? Y[i][k] : 0;
#pragma endscop
}
"""
    library, chooser = loaded(transformed(text, "vpdpbusd", tmp_path), tmp_path), np.random.default_rng(4)
    for m, n, q in SIZES:
        x, w = chooser.integers(0, 256, (m, q)).astype(np.uint8), chooser.integers(-128, 128, (4, q, n)).astype(np.int8)
        y = chooser.integers(-(1 << 20), 1 << 20, (m + 3, n)).astype(np.int32)
        wanted = y.copy()
        for r in range(4):
            wanted[r: r + m] += x.astype(np.int32) @ w[r].astype(np.int32)
        library.product(m, n, q, *(ctypes.c_void_p(v.ctypes.data) for v in (y, x, w)))
        np.testing.assert_array_equal(y, np.maximum(wanted, 0), err_msg=f"{m} {n} {q}")
