"""Register tiles compute bitwise what the source computes, at sizes around every edge of the tile."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.emit_c.loop_ir.text import linear_text
from polysched.emit_c.register_tiles.packing import arrays_of
from polysched.scheduling.marks import LoopMark
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.marked_trees import edge, marked, point, tile
from tests.emit_c.nodes import blocks, on_a_copy, panels, shape

Loops = Sequence[tuple[str, LoopMark]]

MATRIX_PRODUCT: Loops = (("floor(i/4)", tile(0)), ("floor(j/32)", tile(1)), ("k", point(2)), ("i", edge(0, 4)),
                         ("j", edge(1, 32, simd=True)))
TRIANGLE: Loops = (("floor(i/4)", tile(0)), ("floor(j/16)", tile(1)), ("k", point(2)), ("i", edge(0, 4)),
                   ("j", edge(1, 16, simd=True)))

TILED: Loops = (("floor(i/16)", tile(0)), ("floor(j/64)", tile(1)), ("floor(k/8)", tile(2)), ("floor(j/16)", tile(1)),
                ("floor(i/4)", tile(0)), ("k", point(2)), ("i", edge(0, 4)), ("j", edge(1, 16, simd=True)))
ROWS_FIRST: Loops = (*TILED[:3], TILED[4], TILED[3], *TILED[5:])
PACKED: Loops = (("floor(j/32)", tile(1)), ("floor(k/8)", tile(2)), ("floor(i/4)", tile(0)), ("k", point(2)),
                 ("i", edge(0, 4)), ("j", edge(1, 32, simd=True)))

PROGRAMS: dict[str, tuple[str, Loops]] = {
    "matrix product": ("""void f(int n, int m, int p, float C[n][m], float A[n][p], float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += 1.5f * A[i][k] * B[k][j];
#pragma endscop
}
""", MATRIX_PRODUCT),
    "blocks of more rows": ("""void f(int n, int m, int p, float C[n][m], float A[n][p], float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", (("floor(i/13)", tile(0)), ("floor(j/16)", tile(1)), ("k", point(2)), ("i", edge(0, 13)),
      ("j", edge(1, 16, simd=True)))),
    "lower triangle of a product": ("""void f(int n, int m, int p, float C[n][n], float A[n][p], float B[p][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < p; k++)
        C[i][j] -= A[i][k] * B[k][j];
#pragma endscop
}
""", TRIANGLE),
    "triangular product in place": ("""void f(int n, int m, int p, float C[n][m], float A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = i + 1; k < n; k++)
        C[i][j] += A[k][i] * C[k][j];
#pragma endscop
}
""", (("floor(i/4)", tile(0)), ("floor(j/16)", tile(1)), ("k", point(2)), ("i", edge(0, 4)),
      ("j", edge(1, 16, simd=True)))),
    "triangular product that reads its own row": ("""void f(int n, int m, int p, float C[n][m], float A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = i; k < n; k++)
        C[i][j] += A[k][i] * C[k][j];
#pragma endscop
}
""", (("floor(i/4)", tile(0)), ("floor(j/16)", tile(1)), ("k", point(2)), ("i", edge(0, 4)),
      ("j", edge(1, 16, simd=True)))),
    "band of a product": ("""void f(int n, int m, int p, float C[n][m], float A[n][p], float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        if (k <= i + 3 && k >= i - 5)
          C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", MATRIX_PRODUCT),
    "mixed types": ("""void f(int n, int m, int p, int C[n][m], signed char A[n][p], unsigned char B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j] + (i - j) * k;
#pragma endscop
}
""", MATRIX_PRODUCT),
    "wider accumulation": ("""void f(int n, int m, int p, double C[n][m], const float A[n][p], const float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] = C[i][j] * 0.5 + (double)A[i][k] * B[k][j] / (j + 1);
#pragma endscop
}
""", MATRIX_PRODUCT),
    "shifted by a column in place": ("""void f(int n, int m, int p, float C[n][m + 40], float A[n][p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * C[i][j + 40];
#pragma endscop
}
""", (("floor(i/4)", tile(0)), ("floor(j/32)", tile(1)), ("k", point(2)), ("i", edge(0, 4)),
      ("j", edge(1, 32, simd=True)))),
    "strided operand": ("""void f(int n, int m, int p, float C[n][m], const float A[n][p], const float B[m][p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[j][k];
#pragma endscop
}
""", TRIANGLE),
    "blended": ("""void f(int n, int m, int p, float C[n][m], const float A[n][p], const float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] > B[k][j] && B[k][j] >= 0.0f ? A[i][k] : -B[k][j];
#pragma endscop
}
""", MATRIX_PRODUCT),
    "reversed columns": ("""void f(int n, int m, int p, float C[n][m], const float A[n][p], const float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][m - 1 - j] += A[i][k] * B[k][m - 1 - j];
#pragma endscop
}
""", TRIANGLE),
    "cache tile that ends after some register tiles": ("""
void f(int n, int m, int p, double C[24][64], double A[24][p], double B[p][64]) {
#pragma scop
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", TILED),
    "packed operand": ("""void f(int n, int m, int p, float C[n][m], float A[n][p], float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", PACKED),
    "packed and transposed operand": ("""void f(int n, int m, int p, double C[n][m], double A[n][p], double B[m][p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[j][k];
#pragma endscop
}
""", PACKED),
    "update by the border of the same matrix": ("""void f(int n, int m, int p, double C[n + 32][m + 32]) {
#pragma scop
  for (int i = 32; i < n + 32; i++)
    for (int j = 32; j < m + 32; j++)
      for (int k = 0; k < 32; k++)
        C[i][j] -= C[i][k] * C[k][j];
#pragma endscop
}
""", PACKED),
    "substitution for many right-hand sides": ("""void f(int n, int m, int p, double C[n][m], double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < i; k++)
        C[i][j] -= A[i][k] * C[k][j];
#pragma endscop
}
""", PACKED),
    "both operands from one array": ("""void f(int n, int m, int p, double C[n][n], double A[n][p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * A[j][k];
#pragma endscop
}
""", PACKED),
    "lower triangle of a symmetric product": ("""void f(int n, int m, int p, double C[n][n], double A[n][p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * A[j][k];
#pragma endscop
}
""", PACKED),
    "tiled": ("""void f(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", TILED),
    "tiled, rows first": ("""void f(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", ROWS_FIRST),
    "tiled and scaled": ("""void f(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m], double S[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += S[0] * A[i][k] * B[k][j];
#pragma endscop
}
""", TILED),
    "tiled, both scaled": ("""void f(int n, int m, int p, float C[n][m], float A[n][p], float B[p][m], float S[p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += (S[k] * A[i][k]) * (B[k][j] - S[k]);
#pragma endscop
}
""", TILED),
    "tiled, both transposed": ("""void f(int n, int m, int p, double C[n][m], double A[p][n], double B[m][p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[k][i] * B[j][k];
#pragma endscop
}
""", TILED),
    "tiled, up to the diagonal": ("""void f(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p && k <= i; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""", TILED),
    "tiled, chosen by a condition": ("""void f(int n, int m, int p, double C[n][m], double A[n][p], double B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += B[k][j] > 0.0 ? A[i][k] * B[k][j] : 0.5;
#pragma endscop
}
""", TILED),
    "tiled, two products": ("""
void f(int n, int m, int p, double C[n][n], double A[n][p], double B[n][p], double S[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < p; k++)
        C[i][j] += A[j][k] * S[0] * B[i][k] + B[j][k] * S[0] * A[i][k];
#pragma endscop
}
""", TILED),
    "sums of rows, several at a time": ("""void f(int n, int m, int p, double C[n], double A[n][p], double B[p]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < p; k++)
      C[i] += A[i][k] * B[k];
#pragma endscop
}
""", (("floor(i/8)", tile(0)), ("k", point(2)), ("i", edge(0, 8)))),
    "no reuse": ("""void f(int n, int m, int p, float C[n][m], const float A[n][p], const float B[p][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      C[i][j] = 2.0f * C[i][j] + i * 0.25f - j;
#pragma endscop
}
""", (("floor(i/2)", tile(0)), ("floor(j/16)", tile(1)), ("i", edge(0, 2)), ("j", edge(1, 16, simd=True)))),
}


def emitted(name: str, bits: int = 512) -> CSource:
    text, loops = PROGRAMS[name]
    return emit(marked(from_c_text(text), loops), options=EmitOptions(vector_bits=bits))


def arguments(text: str, n: int, m: int, p: int) -> list[np.ndarray]:
    """Arrays for the function's parameters, filled with small numbers of both signs."""
    generator = np.random.default_rng(n * 10007 + m * 101 + p)
    sizes = {"n": n, "m": m, "p": p}
    arrays = []
    for word in text[text.index("(") + 1:text.index(")")].split(","):
        if "[" not in word:
            continue
        shape = tuple(eval(part.rstrip("] "), sizes) for part in word.split("[")[1:])
        kind = next(np.dtype(t) for c, t in (("double", "f8"), ("float", "f4"), ("unsigned char", "u1"),
                                             ("signed char", "i1"), ("int", "i4")) if c in word)
        low = 0 if kind.kind == "u" else -60
        values = generator.integers(low, 60, size=shape)
        arrays.append((values / 8 if kind.kind == "f" else values).astype(kind))
    return arrays


def run(function: Callable[..., object], arrays: Sequence[np.ndarray], n: int, m: int, p: int) -> list[bytes]:
    copies = [a.copy() for a in arrays]
    function(n, m, p, *(ctypes.c_void_p(c.ctypes.data) for c in copies))
    return [c.tobytes() for c in copies]


SIZES = [(3, 31, 2), (4, 32, 5), (5, 33, 1), (13, 67, 11), (8, 64, 0), (37, 41, 37)]


@pytest.mark.parametrize(("name", "bits"), [*itertools.product(PROGRAMS, (512,)), *itertools.product(
    ("matrix product", "wider accumulation", "triangular product in place"), (128, 256))])
def test_computes_what_the_source_computes(name: str, bits: int, tmp_path: Path) -> None:
    text = PROGRAMS[name][0]
    source = emitted(name, bits)
    assert blocks(source.loops), "there is no register tile"
    assert "register tile" in source.text, "the tile was not printed as straight code"
    original = load(text, tmp_path, strict=False).f
    ours = load(splice(text, [source]), tmp_path).f
    for n, m, p in SIZES:
        arrays = arguments(text, n, m, p)
        assert run(ours, arrays, n, m, p) == run(original, arrays, n, m, p), f"{(n, m, p)}\n{source.text}"


@pytest.mark.parametrize("name", ["packed operand", "packed and transposed operand", "both operands from one array",
                                  "lower triangle of a symmetric product"])
def test_operands_are_packed_where_a_loop_reuses_them(name: str) -> None:
    source = emitted(name)
    (panel,) = panels(source.loops).values()
    assert panel.extents == (8, 32)
    assert f"{panel.name}_memory[8][32] __attribute__((aligned(64)));" in source.text
    assert not panels(emitted("matrix product").loops), "columns are not reused around their own loop"


def test_tiles_pack_both_operands_once() -> None:
    extents = {name: panel.extents for name, panel in panels(emitted("tiled").loops).items()}
    assert extents == {"A_panel": (16, 8), "B_panel": (4, 8, 16)}
    assert panels(emitted("tiled, rows first").loops)["B_panel"].extents == (4, 8, 16)


def test_what_the_loop_leaves_alone_of_an_array_that_it_writes_is_packed() -> None:
    assert panels(emitted("update by the border of the same matrix").loops)["C_panel"].extents == (8, 32)
    solved = emitted("substitution for many right-hand sides").loops
    assert not panels(solved), "the rows above are solved in the loop that would read them from the panel"


def test_only_rows_that_exist_are_packed() -> None:
    """Tiles of 16 rows, 24 rows: the second tile has two register tiles of 4 rows and no cut one."""
    loops = emitted("cache tile that ends after some register tiles").loops
    (rows, _) = panels(loops)["A_panel"].loops
    assert (linear_text(rows.lower), linear_text(rows.upper)) == ("16*i_tile", "min(24, 16*i_tile + 16)")
    assert not on_a_copy(loops)


def test_one_piece_of_code_serves_all_tiles_that_are_cut_off() -> None:
    """Columns come from a panel with room for all of them, rows in place are read no further than the last one."""
    source = emitted("packed operand")
    assert [shape(tile) for tile in blocks(source.loops)] == [(4, 32), (4, 16), (4, 32)]
    assert [shape(tile) for tile in on_a_copy(source.loops)] == [(4, 16), (4, 32)]
    text = source.text
    assert "const long i_3 = polysched_min(i + 3, i_end - 1);" in text
    assert "A[i_3][k]" in text
    assert not on_a_copy(emitted("matrix product").loops), "B is read in place, and ends with its last column"


def test_rows_that_are_left_go_four_at_a_time() -> None:
    source = emitted("blocks of more rows")
    assert [rows for rows, columns in map(shape, blocks(source.loops)) if columns == 16] == [13, 4, 1]
    assert {rows for rows, _ in map(shape, blocks(emitted("matrix product").loops))} == {4, 1}


def test_a_scaled_operand_is_computed_once_where_it_is_packed() -> None:
    source = emitted("tiled and scaled")
    found = {name: arrays_of(source.scop, panel.statement, panel.value)
             for name, panel in panels(source.loops).items()}
    assert found == {"A_panel": {"S", "A"}, "B_panel": {"B"}}
    assert source.text.count("S[0] *") == 2, "in the copy: a vector, and single elements at the end"


def test_an_operand_of_one_side_of_a_choice_is_not_computed_ahead() -> None:
    assert set(panels(emitted("tiled, chosen by a condition").loops)) == {"B_panel"}


def test_an_accumulator_needs_a_proof_that_nothing_else_touches_it() -> None:
    """Rows k of C are read while rows i are summed: registers are right only where k cannot be one of the i."""
    apart = emitted("triangular product in place").text
    assert "C_0_0 += " in apart
    assert "k = 4 * i_tile + 4" in apart
    assert "C_0_0" not in emitted("triangular product that reads its own row").text
