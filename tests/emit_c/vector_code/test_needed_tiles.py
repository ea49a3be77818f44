"""Register tiles of which no point has anything to do are not entered, and nothing else is skipped."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

HEAD = "void f(int n, const int *restrict mask, float A[restrict n][n], float B[restrict n][n], float C[restrict n][n])"
PROGRAMS = {
    "a product of some rows": """for (int i = 0; i < n; i++) if (mask[i]) for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];""",
    "other rows set": """for (int i = 0; i < n; i++) if (mask[i]) {
        for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
      } else for (int j = 0; j < n; j++) C[i][j] = 0;""",
    "some of the sum": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) if (mask[k] > 0) C[i][j] += A[i][k] * B[k][j];""",
    "some columns": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (mask[j] > 0)
        for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];""",
    "a sum over a triangle": """for (int i = 0; i < n; i++) if (mask[i]) for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) for (int l = 0; l < k; l++) C[i][j] += A[i][k] * B[l][j];""",
}
TESTED = ("a product of some rows", "other rows set", "a sum over a triangle")


def emitted(body: str) -> str:
    text = f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return text[:text.index("#pragma scop")] + polysched.optimize(from_c_text(text)).text + "}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_masked_products(name: str, tmp_path: Path) -> None:
    text = emitted(PROGRAMS[name])
    assert any("taken" in line and "||" in line for line in text.splitlines()) == (name in TESTED), text
    versions = [load(source, tmp_path, flags=("-O1", "-march=native"))
                for source in (f"{HEAD}\n{{\n{PROGRAMS[name]}\n}}\n", text)]
    for n in (1, 7, 8, 33, 70):
        for share in (0.0, 0.05, 0.6, 1.0):
            results = []
            for version in versions:
                draw = np.random.default_rng(n)
                mask = (draw.random(n) < share).astype(np.int32)
                arrays = [draw.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(3)]
                version.f(n, *(a.ctypes.data_as(ctypes.c_void_p) for a in (mask, *arrays)))
                results.append(arrays[2])
            assert np.array_equal(*results), (n, share)
