"""Strips of columns that neighbouring nests inside a sequential loop share."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import explain_text, explanations
from tests.emit_c.compiled import load
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
    CacheLevel(level=1, size_bytes=48 << 10, ways=12), CacheLevel(level=2, size_bytes=2 << 20, ways=16)))
HEAD = "void f(int n, int m, double A[m][n], double Q[m][n], double R[n][n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
STEP = """for (int k = 0; k < n; k++) {
    for (int i = 0; i < m; i++) Q[i][k] = A[i][k] + 1.0;
    for (int j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (int i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; i++) A[i][j] -= Q[i][k] * R[k][j] * 1e-3;
    }
  }"""
ACROSS = STEP.replace("R[k][j] * 1e-3", "R[k][n - 1] * 1e-3")   # every column waits for the last one
ONCE = STEP.replace("for (int k = 0; k < n; k++) {", "{ const int k = 3;")


@pytest.mark.parametrize(("body", "strips"), [(STEP, True), (ACROSS, False), (ONCE, False)])
def test_neighbours_share_strips_that_keep_their_sums_in_registers(body: str, strips: bool, tmp_path: Path) -> None:
    text = HEAD + body + TAIL
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE))
    said = [explain_text(e) for e in explanations(tiled, MACHINE)]
    assert sum("in strips of 64 iterations that it shares" in e for e in said) == (2 if strips else 0), said
    source = emit(tiled, options=EmitOptions(vector_bits=512))
    found = [line for line in source.text.splitlines() if "omp parallel for" in line and "/ 64" in line]
    assert bool(found) is strips, source.text
    assert ("register tile of 64" in source.text) is strips
    assert not any("dynamic" in line for line in found), "a thread keeps its columns from step to step"
    new, old = load(splice(text, [source]), tmp_path), load(text, tmp_path, strict=False)
    for n, m in ((4, 3), (9, 0), (63, 5), (64, 2), (65, 7), (66, 1), (129, 4), (150, 9)):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((m, n)), random.random((m, n)), random.random((n, n))]
            library.f(ctypes.c_int(n), ctypes.c_int(m), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(b"".join(a.tobytes() for a in arrays))
        assert results[0] == results[1], (n, m)
