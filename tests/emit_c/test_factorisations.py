"""Factorisations in place: register blocks up to the diagonal, and panels of the matrix that they update."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.loop_ir.loops import Node
from polysched.emit_c.loop_ir.text import condition_text, linear_text
from polysched.emit_c.loop_ir.traversal import instances
from polysched.pipeline import TransformedFile, transform_file
from polysched.pipeline.options import PipelineOptions
from tests.emit_c.compiled import load
from tests.emit_c.nodes import blocks, conditions, panels, shape

CHOLESKY = """#include <math.h>
void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
#pragma endscop
}
"""
LU = """void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
"""
SIZES = (1, 2, 4, 5, 11, 12, 13, 23, 24, 25, 31, 32, 33, 47, 48, 49, 60, 97)


def transformed(text: str, folder: Path, block: tuple[int, int], bits: int) -> TransformedFile:
    source = folder / "in.c"
    source.write_text(text)
    return transform_file(source, PipelineOptions(tile=48, register_block=block, vector_bits=bits))


def loops_of(text: str, folder: Path) -> Node:
    (region,) = transformed(text, folder, (4, 12), 256).regions
    return region.source.loops


@pytest.mark.parametrize(("block", "bits"), [((4, 12), 256), ((6, 8), 256), ((8, 8), 512), ((2, 2), 128)])
@pytest.mark.parametrize("text", [CHOLESKY, LU], ids=["cholesky", "lu"])
def test_computes_what_the_source_computes(text: str, block: tuple[int, int], bits: int, tmp_path: Path) -> None:
    ours = load(transformed(text, tmp_path, block, bits).text, tmp_path).f
    original = load(text, tmp_path).f
    generator = np.random.default_rng(7)
    for n in SIZES:
        half = generator.standard_normal((n, n))
        matrix = half @ half.T + n * np.eye(n)
        results = []
        for function in (original, ours):
            results.append(matrix.copy())
            function(n, ctypes.c_void_p(results[-1].ctypes.data))
        assert results[0].tobytes() == results[1].tobytes(), n


def test_blocks_reach_the_diagonal_whatever_their_columns(tmp_path: Path) -> None:
    loops = loops_of(CHOLESKY, tmp_path)
    inner = [linear_text(tile.loops[-1].upper) for tile in blocks(loops) if tile.loops]
    assert any("12*j_tile" in end and "quot" not in end and "floord" not in end for end in inner)
    assert not any(re.search(r"(quot|floord)\(k,", condition_text(found.condition)) for found in conditions(loops)), (
        "parts of the sum end where blocks end")


def test_a_block_of_the_factor_is_packed_beside_the_one_that_is_written(tmp_path: Path) -> None:
    assert "A_panel" in panels(loops_of(CHOLESKY, tmp_path))


def test_both_triangles_get_blocks(tmp_path: Path) -> None:
    loops = loops_of(LU, tmp_path)
    whole = [tile for tile in blocks(loops) if shape(tile) == (4, 12) and not tile.within]
    assert len({instance.statement for tile in whole for instance in instances(tile.body)}) == 2
