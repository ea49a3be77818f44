"""Reductions across threads: which loops get partial results per thread, and that the results are right."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.measure.programs.instance_trace import verify_order
from polysched.scop import from_c_text
from polysched.target import CacheLevel, Target, host
from polysched.tiling import TilingOptions
from polysched.tiling.tree.light_iterations import team_iterations
from tests.emit_c.compiled import load
from tests.emit_c.nodes import on_threads, reductions

HEAD = """void f(int n, int m, T A[restrict m][m], T x[restrict n], int b[restrict n], T h[restrict m],
       T c[restrict m][3], T r[restrict 4], int k[restrict 4])
"""
N, M = 40_000, 210
LEAST = team_iterations(host())
# Body; element type; whether the user has to allow it.
PROGRAMS = {
    "sum": ("for (int i = 0; i < n; i++) r[0] += x[i];", "int", False),
    "sum of doubles": ("for (int i = 0; i < n; i++) r[0] += x[i];", "double", True),
    "product": ("for (int i = 0; i < n; i++) r[1] *= 2 * x[i] + 1;", "int", False),
    "and": ("for (int i = 0; i < n; i++) r[0] &= x[i] | 1024;", "int", False),
    "maximum": ("for (int i = 0; i < n; i++) r[0] = x[i] > r[0] ? x[i] : r[0];", "double", False),
    "minimum": ("for (int i = 0; i < n; i++) if (x[i] < r[0]) r[0] = x[i];", "float", False),
    "maximum, or NaN": ("for (int i = 0; i < n; i++) r[0] = x[i] > r[0] || x[i] != x[i] ? x[i] : r[0];", "float",
                        False),
    "two at once": ("for (int i = 0; i < n; i++) { r[0] += x[i]; h[1] ^= b[i]; }", "int", False),
    "a triangle": ("for (int i = 0; i < m; i++) for (int j = 0; j < i; j++) r[0] += A[i][j];", "int", False),
    "a local accumulator": ("int s = 0; for (int i = 0; i < n; i++) s += x[i] * b[i]; r[0] = s;", "int", False),
    "first place of the maximum": ("for (int i = 0; i < n; i++) if (x[i] > r[0]) { r[0] = x[i]; k[1] = i; }", "int",
                                   False),
    "first place of the minimum of a matrix": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++)"
        " if (A[i][j] < r[0]) { r[0] = A[i][j]; k[0] = i; b[0] = j; }", "double", False),
    "histogram": ("for (int i = 0; i < n; i++) h[b[i]] += x[i];", "int", False),
    "largest per class": ("for (int i = 0; i < n; i++) h[b[i]] += x[i];".replace("+= x[i]", "|= x[i]"), "int", False),
    "any of a vector": ("for (int i = 0; i < n; i++) if (x[i] == 8) k[0] = 5;", "int", False),
    "any of a matrix, chosen": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) k[0] = A[i][j] < -39 ? 7 : k[0];", "double", False),
    "the last index": ("for (int i = 0; i < n; i++) if (x[i] == 8) k[0] = i;", "int", False),
    "the last index that is a vector's": ("for (int i = 3; i < n; i++) k[1] = x[i] > 7 ? i : k[1];", "float", False),
    "the last column": ("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) if (A[i][j] > 3) k[0] = j;", "int",
                        False),
    "the last column of a triangle, with any": (
        "for (int i = 0; i < m; i++) for (int j = i; j < m; j++)"
        " { if (A[i][j] > 38) k[0] = j; b[0] = A[i][j] < 0 ? 1 : b[0]; }", "double", False),
    "the last row, any, and a sum": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++)"
        " { if (A[i][j] == 3) k[0] = i; b[0] = A[i][j] < 0 ? 1 : b[0]; if (A[i][j] > 30) { r[0]++; h[0] = i; } }",
        "int", False),
    "rows of classes": ("for (int i = 0; i < n; i++) c[b[i]][i % 3] += x[i];", "double", True),
}
REFUSED = {
    "somebody reads the sum on the way": "for (int i = 0; i < n; i++) { r[0] += x[i]; h[0] = r[0] + h[0] / 2; }",
    "the value depends on the sum": "for (int i = 0; i < n; i++) r[0] += x[i] * r[0];",
    "data decide what is read": "for (int i = 0; i < n; i++) h[b[i]] += h[0];",
    "two statements": "for (int i = 0; i < n; i++) { h[b[i]] += x[i]; h[0] = x[i]; }",
    "the last of equal values": "for (int i = 0; i < n; i++) if (x[i] >= r[0]) { r[0] = x[i]; k[0] = i; }",
    "two places in one array": "for (int i = 0; i < n; i++) if (x[i] > r[0]) { r[0] = x[i]; k[0] = i; k[1] = -i; }",
    "the last column, which falls": (
        "for (int i = 0; i < m; i++) for (int j = m - 1; j >= 0; j--) if (A[i][j] > 3) k[0] = j;"),
    "a column that falls along the rows": (
        "for (int i = 0; i < m; i++) for (int j = m - i; j < m; j++) if (A[i][j] > 3) k[0] = j;"),
    "the first index": "for (int i = n - 1; i >= 0; i--) if (x[i] > 3) k[0] = i;",
    "one of two numbers": "for (int i = 0; i < n; i++) if (x[i] > 3) k[0] = 1; else if (x[i] < -3) k[0] = 2;",
    "another operator": "for (int i = 0; i < n; i++) { r[0] += x[i]; r[0] *= b[i]; }",
}


def source(body: str, kind: str) -> str:
    return f"{HEAD.replace('T ', kind + ' ')}{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def emitted(text: str, **options: bool) -> CSource:
    return polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=256, **options)).source


@pytest.mark.parametrize("program", PROGRAMS)
def test_results(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body, kind, needs_leave = PROGRAMS[program]
    text = source(body, kind)
    region = emitted(text, reassociate=True)
    assert reductions(region.loops)
    assert bool(reductions(emitted(text).loops)) is not needs_leave
    new = load(f"{text[:text.index('#pragma scop')]}{region.text}}}\n", tmp_path, flags=("-O1", "-fopenmp"))
    old = load(text, tmp_path)
    dtype = {"double": np.float64, "float": np.float32, "int": np.int32}[kind]
    for n, m in ((N, M), (3, 2), (0, 1)):
        results = []
        for library in (new, new, old):
            random = np.random.default_rng(n)
            matrix, vector = random.integers(-40, 40, (m, m)).astype(dtype), random.integers(-9, 9, n).astype(dtype)
            arrays = [matrix, vector, random.integers(0, min(m, 7), max(n, 1)).astype(np.int32),
                      *(random.integers(-3, 3, shape).astype(dtype) for shape in (m, (m, 3), 4)),
                      random.integers(0, 9, 4).astype(np.int32)]
            library.f(ctypes.c_int(n), ctypes.c_int(m), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for again, changed, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(changed, expected)    # small whole numbers: exact in any order
            np.testing.assert_array_equal(changed, again)


@pytest.mark.parametrize("place", [0, 1, N // 2, N - 2, N - 1])
def test_nan_in_any_part_is_the_extremum(place: int, tmp_path: Path) -> None:
    text = source(PROGRAMS["maximum, or NaN"][0], "float")
    region = emitted(text)
    assert reductions(region.loops)
    new = load(f"{text[:text.index('#pragma scop')]}{region.text}}}\n", tmp_path, flags=("-O1", "-fopenmp"))
    vector, result = np.random.default_rng(1).normal(size=N).astype(np.float32), np.full(4, -np.inf, np.float32)
    vector[place] = np.nan
    matrix, row, columns = (np.zeros(shape, np.float32) for shape in ((1, 1), 1, (1, 3)))
    arrays = [matrix, vector, np.zeros(N, np.int32), row, columns, result, np.zeros(4, np.int32)]
    new.f(ctypes.c_int(N), ctypes.c_int(1), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
    assert np.isnan(result[0])


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program: str) -> None:
    assert not reductions(emitted(source(REFUSED[program], "int"), reassociate=True).loops)


@pytest.mark.parametrize("program", ["a triangle", "first place of the maximum", "histogram"])
def test_the_order_is_checked_with_partial_results(program: str) -> None:
    scop = from_c_text(source(PROGRAMS[program][0], "int"))
    assert verify_order(polysched.optimize(scop).tiled)


def test_a_nest_that_runs_on_threads_already_gets_no_parts() -> None:
    text = source("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) h[i] += A[i][j];", "int")
    loops = emitted(text).loops
    assert on_threads(loops)
    assert not reductions(loops)


def test_threads_with_uneven_work_get_several_parts_and_small_work_one() -> None:
    assert f">= {LEAST} ? 8 * polysched_threads() : 1;" in emitted(source(PROGRAMS["a triangle"][0], "int")).text
    assert f"(double)n >= {LEAST} ? polysched_threads() : 1;" in emitted(source(PROGRAMS["sum"][0], "int")).text


def test_an_array_gets_parts_only_for_more_iterations_than_it_has_elements() -> None:
    region = emitted(source(PROGRAMS["histogram"][0], "int")).text
    assert f"(double)n >= {LEAST} && (double)n >= (double)16 * (long)(m) ? polysched_threads() : 1;" in region
    assert "h_parts = i_parts > 1 ? aligned_alloc(64, " in region


def test_parts_lie_a_line_of_the_machine_apart() -> None:
    machine = Target(vector_bits=256, cores=2, caches=(CacheLevel(level=1, size_bytes=1 << 17, line_bytes=128),))
    options = polysched.PipelineOptions(tiling=TilingOptions(target=machine), vector_bits=256)
    text = polysched.optimize(from_c_text(source(PROGRAMS["histogram"][0], "int")), options).source.text
    assert "h_parts = i_parts > 1 ? aligned_alloc(128, " in text
    assert "/ 32 * 32" in text   # ints


@pytest.mark.parametrize("update", ["p[0] += x[i];", "p[0] = x[i] > p[0] ? x[i] : p[0];"])
def test_an_empty_loop_reads_no_element(update: str, tmp_path: Path) -> None:
    loop = f"for (int i = 0; i < n; i++) {update}"
    text = f"void f(int n, int *p, int x[n]) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    region = emitted(text)
    (reduction,) = reductions(region.loops)
    assert [part.temporary.array for part in reduction.parts] == ["p"]
    function = load(f"{text[:text.index('#pragma scop')]}{region.text}}}\n", tmp_path, flags=("-O1", "-fopenmp")).f
    function(ctypes.c_int(0), None, None)
    x, p = np.arange(7, dtype=np.int32), np.array([2], np.int32)
    function(ctypes.c_int(7), ctypes.c_void_p(p.ctypes.data), ctypes.c_void_p(x.ctypes.data))
    assert p[0] == (23 if "+=" in update else 6)
