"""Memory is first touched by the thread that works on it: what is allocated, and what loops of the program fill."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np

from polysched.dependence import analyse
from polysched.dependence.expansion import expand_temporaries
from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.scheduling import pluto
from polysched.scop import from_c_text
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.nodes import boundaries

MACHINE = Target(vector_bits=256, vector_registers=16, cores=4)
THREADS = 4
WHO = "int omp_get_thread_num(void);\nint who(int i) { return (void)i, omp_get_thread_num(); }\n"
# A sum over all of A stands between, so that the nests cannot become one; every element gets the number of its thread.
NESTS = """{who}void f(int n, double A[n][n], double x[n], double B[n][n]) {{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = {first};
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[0] += A[n - 1 - i][j];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = {later};
#pragma endscop
}}
"""


def emitted(text: str) -> CSource:
    dependences = expand_temporaries(analyse(from_c_text(text, pure=("who",)))).dependences
    return emit(tile(pluto(dependences), TilingOptions(target=MACHINE)), options=EmitOptions(vector_bits=256))


def test_rows_are_read_by_the_threads_that_filled_them(tmp_path: Path) -> None:
    """Loops in equal parts divide their rows alike."""
    text = NESTS.format(who=WHO, first="who(i)", later="0 * A[i][j] * x[0] + who(i)")
    function = load(splice(text, [emitted(text)]), tmp_path, flags=("-fopenmp",)).f
    n = 521
    filled, x, read = np.empty((n, n)), np.ones(n), np.empty((n, n))
    openmp = ctypes.CDLL("libgomp.so.1")
    before = openmp.omp_get_max_threads()
    openmp.omp_set_num_threads(THREADS)
    function(n, *(ctypes.c_void_p(a.ctypes.data) for a in (filled, x, read)))
    openmp.omp_set_num_threads(before)
    assert set(filled[:, 0]) == set(range(THREADS))
    assert np.array_equal(filled, read)


def test_rows_that_begin_with_aligned_vectors_are_equal_parts() -> None:
    """Where the first boundary lies differs from row to row; that is no reason to hand out rows one by one."""
    source = emitted(NESTS.format(who="", first="i + 2 * j", later="A[i][j] * x[0]"))
    assert 32 in {boundary.boundary_bytes for boundary in boundaries(source.loops)}
    text = source.text
    clauses = re.findall(r"#pragma omp parallel for(.*)", text)
    assert len(clauses) >= 2, text
    assert not any("schedule(dynamic" in clause for clause in clauses), text


def test_memory_of_temporaries_is_given_uncleared() -> None:
    text = """void f(int n, double A[n][n], double y[n]) {
    double s;
#pragma scop
  for (int i = 0; i < n; i++) { s = 0; for (int j = 0; j < n; j++) s += A[j][i]; y[i] = s * s; }
#pragma endscop
}"""
    text = emitted(text).text
    assert "calloc" not in text
    assert "memset" not in text


def test_parts_of_a_reduction_are_set_by_their_threads() -> None:
    text = """void f(int n, int k[n], long h[4096]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < 4096; j++) h[4095 - j] += k[i] * j;
#pragma endscop
}"""
    scop = from_c_text(text)
    tiled = tile(pluto(analyse(scop)), TilingOptions(target=MACHINE, sizes="off", parallel=False))
    lines = emit(tiled, options=EmitOptions(vector_bits=256)).text.splitlines()
    start = next((k for k, line in enumerate(lines) if "schedule(static, 1)" in line), None)
    assert start is not None, "\n".join(lines)
    cleared = next(k for k, line in enumerate(lines) if "= 0;" in line and "element" in line)
    assert cleared > start, "inside the loop over the parts"
