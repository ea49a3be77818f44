"""Vectors of short elements: conversions in steps, and loops that are better left to the compiler."""

from __future__ import annotations

import ctypes
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.scalar_code.vector_types import has_vectors
from polysched.emit_c.vector_code.conversion_steps import FAR, conversion_steps
from polysched.scheduling import original
from polysched.scop import from_c_text
from polysched.scop.dtypes import BY_NAME, DType
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load

TYPES = [dtype for dtype in BY_NAME.values() if has_vectors(dtype)]


def values_for(have: DType, want: DType) -> np.ndarray:
    """Values of one type that C converts to the other: the ends of the ranges, and numbers between."""
    if have.is_float and want.is_integer:
        low, high = want.value_range()
        reach = 2.0 ** (have.bits // 2 + 5)
        return np.array([max(low, -reach), min(high, reach) // 2, 0, 1.75, 0 if low == 0 else -1.75], have.name)
    if have.is_float:
        return np.array([-1.5, 0, 3e30, 0.1], have.name)
    low, high = have.value_range()
    return np.array([low, low // 2, 0, 1, 200 % high, high // 3, high], have.name)


@pytest.mark.parametrize(("have", "want"), list(permutations(TYPES, 2)), ids=str)
def test_steps_have_the_values_of_the_direct_conversion(have: DType, want: DType) -> None:
    steps = conversion_steps(have, want)
    assert steps[-1] == want
    values = values_for(have, want)
    by_steps = values
    for step in steps:
        by_steps = by_steps.astype(step.name)
    assert by_steps.tolist() == values.astype(want.name).tolist()
    widths = [have.bits, *(step.bits for step in steps)]
    if have.is_integer and (want.is_integer or want.bits >= have.bits):
        assert all(b < FAR * a and a < FAR * b for a, b in pairwise(widths)), steps


HEAD = ("float expf(float);\nvoid f(int n, unsigned char A[n], signed char B[n], unsigned short C[n], float X[n], "
        "double Y[n], int S[1])")
BODIES = {
    "A[i] = (4 * A[i] + B[i]) / 3;": False,
    "X[i] = 0.5f * A[i] - B[i];": False,
    "B[i] = C[i] * 3 >> 2;": False,
    "if (B[i] > 0) Y[i] += B[i];": False,
    "S[0] += A[i] * B[i];": False,
    "S[0] = B[i] > S[0] ? B[i] : S[0];": False,
    "X[i] = expf(B[i] * 0.0625f) + A[i];": True,
    "C[i] = A[i];": True,
    "Y[i] = X[i] + C[0];": True,
}


@pytest.mark.parametrize("body", BODIES)
def test_short_elements(body: str, tmp_path: Path) -> None:
    text = f"{HEAD} {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    {body}\n#pragma endscop\n}}\n"
    tiled = tile(original(analyse(from_c_text(text), reductions="exact")), TilingOptions(sizes="off", parallel=False))
    source = emit(tiled, options=EmitOptions(vector_bits=512))
    assert ("vector_size" in source.text) is BODIES[body], source.text
    if not BODIES[body]:
        return   # the source's own expression
    source_f, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n in (1, 15, 16, 17, 33, 80):
        rng = np.random.default_rng(n)
        arrays = [rng.integers(0, 256, n).astype(np.uint8), rng.integers(-128, 128, n).astype(np.int8),
                  rng.integers(0, 1 << 16, n).astype(np.uint16), rng.standard_normal(n).astype(np.float32),
                  rng.standard_normal(n), np.zeros(1, np.int32)]
        results = []
        for function in (source_f, ours):
            copies = [a.copy() for a in arrays]
            function(n, *(ctypes.c_void_p(c.ctypes.data) for c in copies))
            results.append(copies)
        for want, got in zip(*results, strict=True):
            np.testing.assert_allclose(got, want, rtol=3e-6)
