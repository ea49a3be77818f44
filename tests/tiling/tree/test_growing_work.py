"""Which loops on threads do more towards their end, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest

from polysched import PipelineOptions, optimize
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

TEXT = """void f(int n, double A[restrict 150][150], const double B[restrict 150][150]) {{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = {low}; j < {high}; j++)
      for (int k = 0; k < n; k++)
        A[i][j] += B[k][i] * B[k][j];
#pragma endscop
}}
"""


def text_of(*, rows: str = "n", low: str = "0", high: str = "n") -> str:
    return TEXT.format(rows=rows, low=low, high=high)


def made(text: str):
    return optimize(from_c_text(text), PipelineOptions(tile=(16, 16, 16)))


def growing(result) -> list[bool]:
    return [node.mark.growing for node in walk(from_isl(result.tiled.tree).root)
            if isinstance(node, Band) and node.mark is not None and node.mark.parallel]


@pytest.mark.parametrize(("bounds", "grows"), [
    ({}, False),
    ({"high": "i + 1"}, True),
    ({"low": "i"}, False),
    ({"low": "i", "high": "i + 20", "rows": "n - 20"}, False),
])
def test_rows_of_a_lower_triangle_grow(bounds, grows):
    assert growing(made(text_of(**bounds))) == [grows]


def test_a_triangle_from_its_last_rows_on_has_the_same_results(tmp_path):
    text = text_of(high="i + 1")
    emitted = made(text).text
    assert "i_tile--" in emitted
    head = text[:text.index("#pragma")]
    ours = load(f"{head}{emitted}}}\n", tmp_path, flags=("-O1", "-fopenmp")).f
    source = load(text, tmp_path, strict=False).f
    for n in (0, 1, 15, 16, 17, 33, 64, 100, 150):
        generator = np.random.default_rng(n)
        a, b = generator.integers(-9, 9, (2, 150, 150)).astype(float)
        got, wanted = a.copy(), a.copy()
        ours(n, got.ctypes, b.ctypes)
        source(n, wanted.ctypes, b.ctypes)
        assert np.array_equal(got, wanted), n
