"""A convolution of 3 x 3 windows, whose sums lie apart where lanes are channels, and how to run it."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from polysched.emit_c import CSource, splice
from tests.emit_c.compiled import load

ARRAYS = "float Y[64][8][{wide}], float X[16][10][{wide} + 2], float W[64][16][3][3]"
CONVOLUTION = """void f({arrays}) {{
#pragma scop
  for (int o = 0; o < 64; o++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < {wide}; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              Y[o][y][x] += X[c][y + r][x + s] * W[o][c][r][s];
#pragma endscop
}}
"""


def convolution(wide: int, arrays: str = ARRAYS) -> str:
    """The program for rows of `wide` places."""
    return CONVOLUTION.format(wide=wide, arrays=arrays.format(wide=wide))


def assert_convolves(source: CSource, wide: int, folder: Path) -> None:
    """The emitted code leaves what the program leaves, bit by bit."""
    text = convolution(wide)
    rng = np.random.default_rng(wide)
    image, weights, start = (rng.standard_normal(shape).astype(np.float32) for shape in (
        (16, 10, wide + 2), (64, 16, 3, 3), (64, 8, wide)))
    results = []
    for function in (load(text, folder, strict=False).f, load(splice(text, [source]), folder).f):
        result = start.copy()
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (result, image, weights)))
        results.append(result.tobytes())
    assert results[0] == results[1], source.text
