"""Tiles along a row of memory share one transposed copy of their sums, and read their window through a pointer."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.emit_c.loop_ir.index import constant
from polysched.emit_c.loop_ir.loops import For
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.convolutions import ARRAYS, assert_convolves, convolution
from tests.emit_c.nodes import around, blocks, on_a_copy, shape, shared_copies
from tests.schedules import pluto_of
from tests.tiers import and_campaign


def emitted(text: str, bits: int = 256) -> CSource:
    target = Target(vector_bits=bits, vector_registers=bits // 16, cores=2)
    return emit(tile(pluto_of(text), TilingOptions(target=target)),
                options=EmitOptions(vector_bits=bits, vector_registers=bits // 16))


@pytest.mark.parametrize(("wide", "copy", "whole_vectors"), [
    (56, "Y_cut[56][16]", True),      # 10 tiles of 6 rows at most, 7 blocks of 8
    (14, "Y_cut[16][16]", False),     # 5, 5 and 4
    (21, "Y_cut[24][16]", False),
])
def test_tiles_along_a_row_share_a_copy(wide: int, copy: str, whole_vectors: bool, tmp_path: Path) -> None:
    source = emitted(convolution(wide))
    (shared,) = shared_copies(source.loops)
    assert shared.count == wide
    assert all(tile.copied_from == constant(0) for tile in blocks(shared.body))
    assert source.text.count(f"float {copy}") == 1, source.text
    assert ("Y_rows" not in source.text) == whole_vectors
    assert_convolves(source, wide, tmp_path)


def test_rows_of_whole_blocks_keep_a_copy_for_each_tile() -> None:
    """Four tiles of 14 rows have four blocks of 16 along the row, as one copy of 56 rows would have."""
    loops = emitted(convolution(56), 512).loops
    assert [shape(tile) for tile in on_a_copy(loops)] == [(14, 32)]
    assert not shared_copies(loops)


def test_a_long_row_does_not_stay_in_the_first_cache() -> None:
    loops = emitted(convolution(182)).loops
    assert [shape(tile) for tile in on_a_copy(loops)] == [(6, 16), (2, 16)]
    assert not shared_copies(loops)


@pytest.mark.parametrize(("signature", "kind"), [
    (ARRAYS.format(wide=56), "__typeof__(&X[c][y]) X_window = (__typeof__(&X[c][y]))&X[c][y][x];"),
    (ARRAYS.format(wide=56).replace("X[16][10][56 + 2]", "(*X)[10][58]"),
     "__typeof__(&X[c][y]) X_window = (__typeof__(&X[c][y]))&X[c][y][x];"),
])
def test_a_window_is_read_through_a_pointer(signature: str, kind: str) -> None:
    text = emitted(convolution(56, signature)).text
    assert kind in text
    assert '__asm__("" : "+r"(X_window));' in text
    assert "X_window[r][s + 5]" in text


def test_a_name_of_the_program_is_not_taken() -> None:
    text = convolution(56).replace("void f(", "static int X_window;\nvoid f(")
    assert "X_window_2[r][s + 5]" in emitted(text).text


STRIDED = """void f(float Y[8][26][16], float X[17][54][{of}], float W[3][3][{of}][16]) {{
#pragma scop
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 26; x++)
      for (int o = 0; o < 16; o++)
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            for (int c = 0; c < {of}; c++)
              Y[y][x][o] += X[2 * y + r][{step} * x + s][c] * W[r][s][c][o];
#pragma endscop
}}
"""


@pytest.mark.parametrize("step", and_campaign([2], [1]))
def test_rows_that_stand_apart_are_read_through_one_pointer(step: int, tmp_path: Path) -> None:
    text = STRIDED.format(of=16, step=step)
    source = emitted(text)
    assert shape(blocks(source.loops)[0]) == (6, 16)
    assert ("X_window[2][0]" in source.text) == (step == 2), source.text
    rng = np.random.default_rng(step)
    arrays = [rng.standard_normal(n).astype(np.float32) for n in ((8, 26, 16), (17, 54, 16), (3, 3, 16, 16))]
    results = []
    for function in (load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f):
        own = [a.copy() for a in arrays]
        function(*(ctypes.c_void_p(a.ctypes.data) for a in own))
        results.append(own[0].tobytes())
    assert results[0] == results[1]


PRODUCT = """void f(float C[{rows}][{columns}], float A[{rows}][1024], float B[1024][{columns}]) {{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++)
      for (int k = 0; k < 1024; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


@pytest.mark.parametrize("columns_inside", [True, False])
def test_a_panel_that_the_next_tile_reads_again_is_not_fetched_ahead(columns_inside: bool) -> None:
    """Columns inside: every tile reads the next panel, whose rows lie behind those of this one."""
    target = Target(vector_bits=256, vector_registers=16, cores=2)
    edges = (96, 64, 512) if columns_inside else (96, 16, 512)
    made = tile(pluto_of(PRODUCT.format(rows=768, columns=768)),
                TilingOptions(target=target, sizes=edges, order=(0, 2, 1), register=(6, 16)))
    source = emit(made, options=EmitOptions(vector_bits=256))
    block = blocks(source.loops)[0]
    inner = [node.variable for node in around(source.loops, block) if isinstance(node, For)][-1]
    assert inner.startswith("j" if columns_inside else "i")
    assert block.ahead == ("j" if columns_inside else "i")
    sums = source.text[source.text.index("register tile of"):]
    assert ("__builtin_prefetch((const void *)((__UINTPTR_TYPE__)&B_panel" in sums) == columns_inside
