"""Start values and last steps in the tile loops of a sum: one nest, bit for bit what three nests compute."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import CSource, EmitOptions, emit, emit_function, splice
from polysched.scheduling import pluto
from polysched.scheduling.tree.loop_tree import Sequence, from_isl
from polysched.scop.expression import axis, build, compute, placeholder, sum
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.schedules import pluto_of
from tests.tiers import and_campaign

PRODUCT = """
void f(int n, int m, int l, float Y[n][m], float X[n][l], float W[l][m], float bias[m])
{{
  float P[n][m];
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      P[i][j] = {start};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        P[i][j] += X[i][k] * W[k][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      Y[i][j] = {end};
#pragma endscop
}}
"""
MACHINE = Target(vector_bits=512, vector_registers=32, cores=2)
EDGES = (16, 48, 8)


def emitted(start: str, end: str, **options: object) -> tuple[str, CSource]:
    text = PRODUCT.format(start=start, end=end)
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE, sizes=EDGES, **options))
    return text, emit(tiled, options=EmitOptions(vector_bits=512))


def is_one_nest(source: CSource) -> bool:
    return not isinstance(from_isl(source.tiled.tree).root, Sequence)


@pytest.mark.parametrize(("start", "end"), and_campaign(
    [("bias[j]", "P[i][j] > 0.0f ? P[i][j] : 0.0f")], [("0.0f", "(P[i][j] + bias[j]) * 0.5f")]))
def test_one_nest_is_bitwise_the_same_around_every_tile_edge(start: str, end: str, tmp_path: Path) -> None:
    text, source = emitted(start, end)
    assert is_one_nest(source), source.text
    assert "register tile of" in source.text
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n, m, depth in ((1, 1, 1), (15, 47, 7), (16, 48, 8), (17, 49, 9), (33, 97, 0), (31, 31, 17), (8, 96, 16)):
        rng = np.random.default_rng(n)
        given = [rng.standard_normal(shape).astype(np.float32) for shape in ((n, depth), (depth, m), (m,))]
        results = []
        for function in (original, ours):
            result = np.zeros((n, m), np.float32)
            function(n, m, depth, *(ctypes.c_void_p(a.ctypes.data) for a in (result, *given)))
            results.append(result.tobytes())
        assert results[0] == results[1], f"{(n, m, depth)}\n{source.text}"


@pytest.mark.parametrize("end", and_campaign(["P[i][j] + P[i][0]"], ["P[i][j] + P[n - 1 - i][j]"]))
def test_a_last_step_that_needs_other_tiles_stays_apart(end: str) -> None:
    _, source = emitted("0.0f", end)
    assert not is_one_nest(source), source.text


@pytest.mark.parametrize(("edges", "parallel", "declared"), [
    ((16, 48, 8), True, "        float P_sum[16][48] "),
    ((16, 1024, 8), True, "        float (*P_sum)[1024] = P_sum_memory;"),
    ((16, 1024, 8), False, "float (*P_sum)[4096] = aligned_alloc"),     # nobody says that a thread has it to itself
])
def test_the_sums_of_a_tile_are_all_that_is_stored(edges: tuple[int, ...], parallel: bool, declared: str) -> None:
    x, w, bias, k = placeholder("X", (256, 64)), placeholder("W", (64, 4096)), placeholder("bias", (4096,)), axis("k")
    p = compute((256, 4096), lambda i, j: sum(x[i, k] * w[k, j], over=k) + bias[j], name="P")
    y = compute((256, 4096), lambda i, j: p[i, j] * p[i, j], name="Y")
    tiled = tile(pluto(analyse(build(y, name="f"))), TilingOptions(target=MACHINE, sizes=edges, parallel=parallel))
    text = emit_function(tiled, name="f", options=EmitOptions(vector_bits=512, openmp=parallel)).text
    assert declared in text, text
