"""Register blocks around the loops of several bands: sums that no one band holds, as in convolutions."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.schedules import pluto_of

CONVOLUTION = """
void f(int n, int k, int h, int w, float Y[n][h][w], float X[k][h + 2][w + 2], float W[n][k][3][3])
{
#pragma scop
  for (int o = 0; o < n; o++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        for (int c = 0; c < k; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              Y[o][y][x] += X[c][y + r][x + s] * W[o][c][r][s];
#pragma endscop
}
"""
MACHINE = Target(vector_bits=512, vector_registers=32, cores=2)


def tiled(text: str, **options: object):
    return tile(pluto_of(text), TilingOptions(target=MACHINE, **options))


def test_the_window_and_the_channels_run_inside_one_block() -> None:
    bands = tiled(CONVOLUTION).bands
    assert bands[0].register != ()
    assert bands[0].plan.below > 0
    assert set(range(bands[0].plan.nest.depth - bands[0].plan.below, bands[0].plan.nest.depth)) <= set(
        bands[0].plan.shape.inner)


@pytest.mark.parametrize("edge", [8])
def test_given_tile_edges_are_kept_without_a_block(edge: int) -> None:
    assert tiled(CONVOLUTION, sizes=edge).bands[0].register == ()


@pytest.mark.parametrize("bits", [512])
def test_a_convolution_is_bitwise_the_same_around_every_tile_edge(bits: int, tmp_path: Path) -> None:
    source = emit(tile(pluto_of(CONVOLUTION), TilingOptions(
        target=Target(vector_bits=bits, vector_registers=32, cores=2))), options=EmitOptions(vector_bits=bits))
    assert "register tile of" in source.text
    original = load(CONVOLUTION, tmp_path, strict=False).f
    ours = load(splice(CONVOLUTION, [source]), tmp_path).f
    for n, k, h, w in ((1, 1, 1, 1), (7, 2, 2, 15), (8, 3, 1, 16), (9, 1, 3, 17), (15, 2, 1, 47), (16, 1, 2, 48),
                       (17, 3, 1, 49), (8, 2, 1, 64), (24, 2, 2, 65), (8, 0, 2, 16)):
        rng = np.random.default_rng(w)
        image, weights, start = (rng.standard_normal(shape).astype(np.float32) for shape in (
            (k, h + 2, w + 2), (n, k, 3, 3), (n, h, w)))
        results = []
        for function in (original, ours):
            result = start.copy()
            function(n, k, h, w, *(ctypes.c_void_p(a.ctypes.data) for a in (result, image, weights)))
            results.append(result.tobytes())
        assert results[0] == results[1], f"{(n, k, h, w)}\n{source.text}"


@pytest.mark.parametrize("width", [14])
def test_rows_shorter_than_the_registers_are_bitwise_the_same(width: int, tmp_path: Path) -> None:
    text = CONVOLUTION.replace("int w, ", "").replace("[w + 2]", f"[{width + 2}]").replace("w", str(width))
    source = emit(tiled(text), options=EmitOptions(vector_bits=512))
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n, k, h in ((1, 1, 1), (7, 2, 2), (8, 3, 1), (9, 1, 3), (16, 0, 2)):
        rng = np.random.default_rng(n)
        image, weights, start = (rng.standard_normal(shape).astype(np.float32) for shape in (
            (k, h + 2, width + 2), (n, k, 3, 3), (n, h, width)))
        results = []
        for function in (original, ours):
            result = start.copy()
            function(n, k, h, *(ctypes.c_void_p(a.ctypes.data) for a in (result, image, weights)))
            results.append(result.tobytes())
        assert results[0] == results[1], f"{(n, k, h)}\n{source.text}"


SIXTEEN = CONVOLUTION.replace("int k, ", "").replace("[k]", "[16]").replace("c < k", "c < 16")
STRIDED = SIXTEEN.replace("[h + 2][w + 2]", "[2 * h + 3][2 * w + 5]").replace("y + r", "2 * y + r").replace(
    "x + s", "2 * x + 3 * s").replace("float", "double").replace("W[n][16][3][3]", "W[n][16][3][4]")


@pytest.mark.parametrize(("text", "columns", "share"), [(SIXTEEN, 32, True), (STRIDED, 16, False)])
def test_channels_in_lanes_are_bitwise_the_same_around_every_tile_edge(text: str, columns: int, share: bool,
                                                                       tmp_path: Path) -> None:
    """Sums that lie apart in lanes, their weights packed for each thread or once for all."""
    wide = 56 if share else 14
    made = tiled(text, parameters={"n": 2 * columns, "h": wide, "w": wide})
    plan = made.bands[0].plan
    assert plan.shape.transposed
    assert (plan.shape.row_count, plan.shape.column_count) == (14, columns)
    assert plan.columns_outside == (not share)
    source = emit(made, options=EmitOptions(vector_bits=512))
    assert "on a transposed copy" in source.text
    assert ("W_panels" in source.text) == share
    assert ("memcpy(W_panel" in source.text) == share   # rows of the other weights hold more than is read
    assert '__asm__ volatile("" : : : "memory");' in source.text   # or gcc runs out of registers
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    dtype, step = (np.float64, 2) if "double" in text else (np.float32, 1)
    for n, h, w in ((1, 1, 1), (columns - 1, 2, 13), (columns, 1, 14), (columns + 1, 2, 15), (2 * columns, 1, 56),
                    (2 * columns + 17, 2, 29), (3, 0, 14)):
        rng = np.random.default_rng(w)
        image, weights, start = (rng.standard_normal(shape).astype(dtype) for shape in (
            (16, step * h + step + 1, step * w + 3 * step - 1), (n, 16, 3, 3 if share else 4), (n, h, w)))
        results = []
        for function in (original, ours):
            result = start.copy()
            function(n, h, w, *(ctypes.c_void_p(a.ctypes.data) for a in (result, image, weights)))
            results.append(result.tobytes())
        assert results[0] == results[1], f"{(n, h, w)}\n{source.text}"
