"""Rows of a tile that read their neighbours, side by side."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c import CSource
from polysched.emit_c.loop_ir.loops import Node
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.nodes import for_loops
from tests.tiers import and_campaign

HEAD = "void f(int n, int steps, double A[restrict n][n], double B[restrict n][n])\n{\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
STAR = """for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
  }"""
SIDE_BY_SIDE = {
    "a star": STAR,
    "rows below only": STAR.replace("A[i - 1][j]", "A[i][j]").replace("B[i - 1][j]", "B[i][j]"),
}
CUBE_STEP = """for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++)
        B[i][j][k] = 0.1 * (A[i][j][k] + A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j + 1][k]
                            + A[i][j][k - 1] + A[i][j][k + 1]);
    """
SWAPPED = CUBE_STEP.replace("A[", "C[").replace("B[", "A[").replace("C[", "B[")
CUBES = {
    "star": (CUBE_STEP + SWAPPED, True),
    "rows from plane to plane only": ((CUBE_STEP + SWAPPED).replace("[j - 1]", "[j]").replace("[j + 1]", "[j]"), True),
    "triangle of rows": ((CUBE_STEP + SWAPPED).replace("j < n - 1", "j <= i"), False),
}
ALONE = {
    "in place": """for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.25 * (A[i - 1][j] + A[i][j] + A[i + 1][j] + A[i][j + 1]);""",
    "no neighbours above or below": STAR.replace("A[i - 1][j] + A[i + 1][j]", "A[i][j]").replace(
        "B[i - 1][j] + B[i + 1][j]", "B[i][j]"),
}


def _emitted(program: str, vector_bits: int, tile: tuple[int, ...]) -> CSource:
    return polysched.optimize(from_c_text(program), polysched.PipelineOptions(
        vector_bits=vector_bits, tile=tile)).source


def _by_twos(loops: Node) -> bool:
    """Whether a loop over rows, or planes, does two of them at once."""
    return any(loop.variable == "i" and loop.step == 2 for loop in for_loops(loops))


@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("case", [*SIDE_BY_SIDE, *ALONE])
def test_neighbours_go_side_by_side(case: str, bits: int, tmp_path: Path) -> None:
    body = {**SIDE_BY_SIDE, **ALONE}[case]
    made = _emitted(HEAD + body + TAIL, bits, (3, 8, 16))
    assert _by_twos(made.loops) is (case in SIDE_BY_SIDE), made.text
    new = load(HEAD.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path)
    old = load(HEAD + body + TAIL, tmp_path)
    for n, steps in ((2, 1), (3, 2), (4, 3), (5, 4), (9, 2), (10, 3), (11, 7), (18, 3), (19, 6), (41, 5)):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n)), random.random((n, n))]
            library.f(ctypes.c_int(n), ctypes.c_int(steps), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(("case", "bits"), and_campaign(
    [*((case, 256) for case in CUBES), ("star", 512)], [(case, 512) for case in CUBES]))
def test_planes_go_side_by_side(case: str, bits: int, tmp_path: Path) -> None:
    """At sizes around the edges of tiles; where rows are no box for all planes, planes stay alone."""
    body, together = CUBES[case]
    head = HEAD.replace("n][n]", "n][n][n]")
    program = head + "for (int t = 0; t < steps; t++) {\n    " + body + "}" + TAIL
    made = _emitted(program, bits, (3, 6, 8, 16))
    assert _by_twos(made.loops) is together, made.text
    new, old = load(head.replace("#pragma scop\n", "") + made.text + "}\n", tmp_path), load(program, tmp_path)
    for n, steps in ((2, 2), (3, 1), (4, 3), (5, 4), (6, 5), (7, 3), (8, 6), (9, 2), (10, 3), (11, 5), (15, 4),
                     (17, 3), (18, 2), (19, 4), (20, 3), (25, 2), (26, 7), (27, 3), (28, 2)):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random((n, n, n)), random.random((n, n, n))]
            library.f(ctypes.c_int(n), ctypes.c_int(steps), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(arrays)
        for mine, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(mine, theirs)
