"""Reductions in lanes that keep which iteration counts: flags, first and last indices, places of extrema."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import lane_parts, reductions

SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 131)
ARRAYS = "T A[restrict n], int B[restrict n], T r[restrict 2], U k[restrict 2], U l[restrict 2], T S[restrict n][n]"
# Body over `n` and these arrays; the type T of numbers, the type U of places.
PROGRAMS = {
    "a flag": ("for (int i = 0; i < n; i++) if (A[i] > 7) k[0] = 5;", "double", "int"),
    "a flag, chosen": ("for (int i = 0; i < n; i++) k[1] = A[i] < -7 ? 1 : k[1];", "int", "int"),
    "a flag on both branches": (
        "for (int i = 0; i < n; i++) { if (A[i] > 7) { if (B[i] > 2) k[0] = 3; } else if (B[i] == 0) k[0] = 3; }",
        "float", "int"),
    "a short flag": ("for (int i = 0; i < n; i++) if (A[i] == 8) k[0] = 1;", "short", "short"),
    "a flag that is a long": ("for (int i = 0; i < n; i++) if (A[i] == 8) k[0] = 1;", "float", "long"),
    "the last index": ("for (int i = 0; i < n; i++) if (A[i] == 8) k[0] = i;", "int", "int"),
    "the last index of doubles": ("for (int i = 2; i < n; i++) k[0] = A[i] > 7 ? i : k[0];", "double", "int"),
    "the last index, a long": ("for (long i = 0; i < n; i++) if (A[i] > 5) k[0] = i;", "double", "long"),
    "backwards": ("for (int i = n - 1; i >= 0; i--) if (A[i] > 5) k[0] = i;", "int", "int"),
    "from below zero": ("for (int i = -3; i < n - 3; i++) if (A[i + 3] > 5) k[0] = i;", "int", "int"),
    "the last row and the last column": (
        "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { if (S[i][j] == 8) { k[0] = i; l[0] = j; } }",
        "int", "int"),
    "the last of every row": ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if (S[i][j] > 7) B[i] = j;",
                              "float", "int"),
    "the first index": ("for (int i = 0; i < n; i++) if (A[i] == 8 && k[0] < 0) k[0] = i;", "int", "int"),
    "the first index, asked first": ("for (int i = 0; i < n; i++) if (k[0] == -1) { if (A[i] > 6) k[0] = i; }",
                                     "double", "int"),
    "the first index, chosen": ("for (int i = 0; i < n; i++) k[0] = k[0] <= -1 && A[i] > 6 ? i : k[0];", "double",
                                "int"),
    "the first index backwards": ("for (int i = n - 1; i >= 0; i--) if (k[0] < 0 && A[i] == 8) k[0] = i;", "float",
                                  "int"),
    "first place of the maximum": ("for (int i = 0; i < n; i++) if (A[i] > r[0]) { r[0] = A[i]; k[1] = i; }",
                                   "double", "int"),
    "first place of the largest int": ("for (int i = 0; i < n; i++) if (A[i] > r[0]) { r[0] = A[i]; k[1] = i; }",
                                       "int", "int"),
    "last place of the minimum": ("for (int i = 0; i < n; i++) if (A[i] <= r[0]) { k[1] = i; r[0] = A[i]; }",
                                  "float", "int"),
    "a place far along": ("for (int i = 0; i < n; i++) if (A[i] <= r[0]) { k[1] = 2 * i + n; r[0] = A[i]; }",
                          "float", "long"),
    "place of a maximum backwards": (
        "for (int i = n - 1; i >= 0; i--) if (A[i] > r[0]) { r[0] = A[i]; k[1] = i; }", "float", "long"),
    "row and column of the maximum": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        " if (S[i][j] > r[0]) { r[0] = S[i][j]; k[0] = i; l[0] = j; }", "double", "int"),
    "first NaN": (
        "for (int i = 0; i < n; i++) if (A[i] > r[0] || (A[i] != A[i] && r[0] == r[0])) { r[0] = A[i]; k[1] = i; }",
        "double", "int"),
    "flag, last and sum": (
        "for (int i = 0; i < n; i++) { if (A[i] > 7) k[0] = i; if (B[i] < -7) { l[0] = 2; } r[0] += A[i]; }",
        "int", "int"),
}
REFUSED = {
    "somebody reads the index on the way": "for (int i = 0; i < n; i++) { if (A[i] > 7) k[0] = i; B[i] = k[0]; }",
    "a first index that may be asked again": (
        "for (int i = -2; i < n - 2; i++) if (A[i + 2] == 8 && k[0] < 0) k[0] = i;"),
    "one of two numbers": "for (int i = 0; i < n; i++) if (A[i] > 3) k[0] = 1; else if (A[i] < -3) k[0] = 2;",
    "two places in one array": "for (int i = 0; i < n; i++) if (A[i] > r[0]) { r[0] = A[i]; k[0] = i; k[1] = -i; }",
    "an index cut short": "for (long i = 0; i < n; i++) if (A[i] > 3) k[0] = i;",
    "a place that the data give": "for (int i = 0; i < n; i++) if (A[i] > r[0]) { r[0] = A[i]; k[0] = B[i]; }",
    "a largest NaN without a place": (
        "for (int i = 0; i < n; i++) if (A[i] > r[0] || (A[i] != A[i] && r[0] == r[0])) r[0] = A[i];"),
}
TYPES = {"double": np.float64, "float": np.float32, "int": np.int32, "long": np.int64, "short": np.int16,
         "unsigned": np.uint32}


def source(body: str, kind: str, place: str) -> str:
    head = f"void f(int n, {ARRAYS.replace('T ', kind + ' ').replace('U ', place + ' ')})"
    return f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def emitted(text: str, vector_bits: int = 256, *, parallel: bool = False) -> CSource:
    return polysched.optimize(from_c_text(text), polysched.PipelineOptions(
        vector_bits=vector_bits, parallel=parallel)).source


@pytest.mark.parametrize("vector_bits", [256, 512])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results(program: str, vector_bits: int, tmp_path: Path) -> None:
    body, kind, place = PROGRAMS[program]
    text = source(body, kind, place)
    region = emitted(text, vector_bits)
    assert lane_parts(region.loops)
    new = load(f"{text[:text.index('#pragma scop')]}{region.text}}}\n", tmp_path)
    old = load(text, tmp_path)
    for n in SIZES:
        for seed in range(6):
            results = []
            for library in (new, old):
                arrays = data(n, seed, kind, place)
                library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
                results.append([a.tobytes() for a in arrays])
            assert results[0] == results[1], (n, seed)


def data(n: int, seed: int, kind: str, place: str) -> list[np.ndarray]:
    """Few different numbers, zeros of both signs, NaN now and then; places below and above all iterations."""
    random = np.random.default_rng(100 * n + seed)
    dtype = TYPES[kind]
    numbers = [random.integers(-8 * (seed % 2), 9, shape).astype(dtype) for shape in (n, (n, n))]
    if dtype in (np.float32, np.float64):
        for each in numbers:
            each[random.random(each.shape) < 0.1] *= -1
            each[random.random(each.shape) < (0.02 if seed == 4 else 0)] = np.nan
    first = np.array([-9, 3, -1, 0, -9, 8], dtype)[seed]
    places = np.array([-1, 5, -7, n, -1, -1][seed]).astype(TYPES[place])
    return [numbers[0], random.integers(-8, 9, n).astype(np.int32), np.array([first, first]),
            np.array([places, places]), np.array([places, places]), numbers[1]]


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program: str) -> None:
    assert not lane_parts(emitted(source(REFUSED[program], "double", "int")).loops)


def test_a_signed_index_as_an_unsigned_one_is_refused() -> None:
    """Numbers below zero would be the largest."""
    body = "for (int i = -2; i < n - 2; i++) if (A[i + 2] > 3) k[0] = i;"
    parts = lane_parts(emitted(source(body, "double", "int")).loops)
    assert {(part.array, part.operator) for part in parts} == {("k", "last")}
    assert not lane_parts(emitted(source(body, "double", "unsigned")).loops)


@pytest.mark.parametrize("program", ["the first index", "first NaN", "first place of the maximum", "a flag"])
def test_on_threads_with_lanes(program: str, tmp_path: Path) -> None:
    body, kind, place = PROGRAMS[program]
    text = source(body, kind, place)
    region = emitted(text, parallel=True)
    (reduction,) = reductions(region.loops)
    assert lane_parts(reduction)
    new = load(f"{text[:text.index('#pragma scop')]}{region.text}}}\n", tmp_path, flags=("-O1", "-fopenmp"))
    old = load(text, tmp_path)
    n, square = 20_000, np.zeros(1)
    for seed in range(6):
        results = []
        for library in (new, old):
            random = np.random.default_rng(seed)
            numbers = random.integers(-9, 9 if seed % 2 else 7, n).astype(TYPES[kind])
            if kind == "double" and seed > 3:
                numbers[random.integers(0, n, 2)] = np.nan
            numbers[random.integers(0, n, 3)] = 8
            arrays = [numbers, *data(1, seed, kind, place)[1:-1], square]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append([a.tobytes() for a in arrays])
        assert results[0] == results[1], seed
