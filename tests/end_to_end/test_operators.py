"""Operators of neural networks through every default: right at awkward sizes, and in the form that makes them fast."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import emit_function, splice
from polysched.pipeline import Optimized, optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.expression import build, placeholder
from polysched.scop.expression.operators import layer_norm, softmax
from polysched.target import Target
from polysched.tiling import TilingOptions
from tests.emit_c.compiled import load
from tests.tiers import and_campaign


def run(optimized: Optimized, folder: Path, *arrays: np.ndarray) -> None:
    text = emit_function(optimized.tiled, name="f", options=optimized.options.emit_options()).text
    called = load(text, folder, flags=("-O2", "-march=native"), strict=False).f  # gcc warns falsely of bounds
    called(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))


def nests(text: str) -> int:
    """Loops on threads in a text."""
    return len(re.findall("omp parallel for", text))


PLAIN, REASSOCIATED, NARROW, LIBRARY = (PipelineOptions(), PipelineOptions(reassociate=True),
                                        PipelineOptions(vector_bits=256), PipelineOptions(math="libm"))


@pytest.mark.parametrize(("rows", "columns", "options"), and_campaign(
    [*((rows, columns, options) for rows, columns in ((2, 1), (4, 31), (37, 47))
       for options in (PLAIN, REASSOCIATED, NARROW)),
     (3, 5, REASSOCIATED), (5, 32, PLAIN), (2, 33, NARROW), (37, 47, LIBRARY)],
    [(rows, columns, options) for rows, columns in ((2, 1), (3, 5), (4, 31), (5, 32), (2, 33), (37, 47))
     for options in (PLAIN, REASSOCIATED, NARROW, LIBRARY)]))
def test_softmax(rows: int, columns: int, options: PipelineOptions, tmp_path: Path) -> None:
    optimized = optimize(build(softmax(placeholder("X", (rows, columns), "float32"))), options)
    x = np.random.default_rng(1).standard_normal((rows, columns)).astype(np.float32)
    y = np.full_like(x, np.nan)
    run(optimized, tmp_path, x, y)
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, power / power.sum(1, keepdims=True), rtol=2e-6)


@pytest.mark.parametrize(("rows", "columns", "options"), and_campaign(
    [(2, 1, PLAIN), (4, 31, REASSOCIATED), (5, 32, PLAIN), (2, 33, REASSOCIATED), (37, 47, PLAIN),
     (37, 47, REASSOCIATED)],
    [(rows, columns, options) for rows, columns in ((2, 1), (4, 31), (5, 32), (2, 33), (37, 47))
     for options in (PLAIN, REASSOCIATED)]))
def test_layer_norm(rows: int, columns: int, options: PipelineOptions, tmp_path: Path) -> None:
    x, gamma, beta = (placeholder("X", (rows, columns), "float32"), placeholder("G", (columns,), "float32"),
                      placeholder("B", (columns,), "float32"))
    optimized = optimize(build(layer_norm(x, gamma, beta)), options)
    rng = np.random.default_rng(2)
    xs, gs, bs = (rng.standard_normal(s).astype(np.float32) for s in ((rows, columns), columns, columns))
    y = np.full_like(xs, np.nan)
    run(optimized, tmp_path, xs, gs, bs, y)
    wide = xs.astype(np.float64)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, (wide - wide.mean(1, keepdims=True)) * scale * gs + bs, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("operator", ["softmax", "layer norm"])
def test_large_rows_run_one_after_the_other_in_one_parallel_loop(operator: str) -> None:
    x, v = placeholder("X", (4096, 1024), "float32"), placeholder("G", (1024,), "float32")
    built = softmax(x) if operator == "softmax" else layer_norm(x, v, placeholder("B", (1024,), "float32"))
    text = optimize(build(built), PipelineOptions(reassociate=True, vector_bits=512)).text
    assert nests(text) == 1
    assert "[4096][1024]" not in text, "a whole temporary is kept"
    assert "expf(" not in text


@pytest.mark.parametrize("edge", [1, 7, 13, 16, 17, 33, 56])
def test_depthwise_convolution(edge: int, tmp_path: Path) -> None:
    channels = 16 if edge == 56 else 3    # enough work for threads
    text = f"""void f(float Y[{channels}][{edge}][{edge}], const float X[{channels}][{edge + 2}][{edge + 2}],
                                const float W[{channels}][3][3]) {{
#pragma scop
  for (int c = 0; c < {channels}; c++) for (int y = 0; y < {edge}; y++) for (int x = 0; x < {edge}; x++)
    for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) Y[c][y][x] += X[c][y + r][x + s] * W[c][r][s];
#pragma endscop
}}
"""
    optimized = optimize(from_c_text(text), PipelineOptions(vector_bits=512))
    if edge == 56:
        assert "register tile" in optimized.text
        assert "#pragma GCC unroll 3" in optimized.text, "rows of X that neighbouring points share are loaded again"
        assert nests(optimized.text) == 1
    rng = np.random.default_rng(edge)
    x = rng.standard_normal((channels, edge + 2, edge + 2)).astype(np.float32)
    w = rng.standard_normal((channels, 3, 3)).astype(np.float32)
    y = np.zeros((channels, edge, edge), np.float32)
    want = sum(x[:, r:r + edge, s:s + edge].astype(float) * w[:, r, s][:, None, None]
               for r in range(3) for s in range(3))
    called = load(splice(text, [optimized.source]), tmp_path, strict=False).f
    called(*(ctypes.c_void_p(a.ctypes.data) for a in (y, x, w)))
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("edge", [13, 56])
def test_pointwise_convolution(edge: int, tmp_path: Path) -> None:
    """Between the loop that would reuse the image and the register tiles runs a loop that moves the image."""
    text = f"""void f(float Y[64][{edge}][{edge}], const float X[256][{edge}][{edge}], const float W[64][256]) {{
#pragma scop
    for (int o = 0; o < 64; o++)
        for (int y = 0; y < {edge}; y++)
            for (int x = 0; x < {edge}; x++)
                for (int c = 0; c < 256; c++)
                    Y[o][y][x] += X[c][y][x] * W[o][c];
#pragma endscop
}}
"""
    rng = np.random.default_rng(3)
    x, w, start = (rng.integers(-8, 8, s).astype(np.float32) for s in ((256, edge, edge), (64, 256), (64, edge, edge)))
    y = start.copy()
    run(optimize(from_c_text(text)), tmp_path, y, x, w)
    np.testing.assert_array_equal(y, start + np.einsum("oc,cyx->oyx", w, x))


def test_sums_leave_no_registers_for_rows_of_the_image(tmp_path: Path) -> None:
    """14 places by vectors of channels: what neighbouring places share is read again, not spilled."""
    n, k, edge = 64, 32, 14
    text = f"""void f(float Y[{n}][{edge}][{edge}], const float X[{k}][{edge + 2}][{edge + 2}],
                                const float W[{n}][{k}][3][3]) {{
#pragma scop
  for (int o = 0; o < {n}; o++) for (int y = 0; y < {edge}; y++) for (int x = 0; x < {edge}; x++)
    for (int c = 0; c < {k}; c++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
      Y[o][y][x] += X[c][y + r][x + s] * W[o][c][r][s];
#pragma endscop
}}
"""
    optimized = optimize(from_c_text(text), PipelineOptions(
        vector_bits=256, register_block=(14, 8),
        tiling=TilingOptions(target=Target(vector_bits=256, vector_registers=16, cores=2))))
    assert "register tile of 14 x" in optimized.text
    assert '__asm__ volatile("" : : : "memory");' in optimized.text
    rng = np.random.default_rng(1)
    xs = rng.standard_normal((k, edge + 2, edge + 2)).astype(np.float32)
    w = rng.standard_normal((n, k, 3, 3)).astype(np.float32)
    y = np.zeros((n, edge, edge), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(xs.astype(float), (edge, edge), (1, 2))
    called = load(splice(text, [optimized.source]), tmp_path, strict=False).f
    called(*(ctypes.c_void_p(a.ctypes.data) for a in (y, xs, w)))
    np.testing.assert_allclose(y, np.einsum("crsyx,ocrs->oyx", windows, w), rtol=1e-4, atol=1e-4)
