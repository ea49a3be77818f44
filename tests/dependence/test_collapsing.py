"""Loops over short rows that become one, and those that must stay two."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.collapsing import collapse_rows
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.expression import axis, compute, placeholder
from polysched.scop.expression import sum as summed
from polysched.scop.expression.lowering import build
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from tests.emit_c.compiled import load

BYTES = 64
POINTWISE = """
void f(double Y[5][6][14], const double X[4][6][14], const double W[5][4][1][1])
{
#pragma scop
    for (int o = 0; o < 5; o++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 14; x++)
                for (int c = 0; c < 4; c++)
                    for (int r = 0; r < 1; r++)
                        for (int s = 0; s < 1; s++)
                            Y[o][y][x] += X[c][y + r][x + s] * W[o][c][r][s];
#pragma endscop
}
"""
NESTS = """
void f(int n, double A[5][n][14], double B[4][7][14], double C[5][7][14], double s[5][4], double D[n][14])
{
    double t[5][7][14];
#pragma scop
    for (int o = 0; o < 5; o++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 14; j++)
                t[o][i][j] = A[o][i + 1][j];
    for (int o = 0; o < 5; o++)
        for (int k = 0; k < 4; k++)
            for (int y = 0; y < 6; y++)
                for (int x = 0; x < 14; x++)
                    t[o][y][x] += B[k][y + 1][x] * s[o][k];
    for (int o = 0; o < 5; o++)
        for (int i = o; i < 6; i++)
            for (int j = 0; j < 14; j++)
                C[o][i][j] = t[o][i][j] > 0 ? t[o][i][j] * s[o][0] : B[2][i - o][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 14; j++)
            D[i][j] *= 2;
#pragma endscop
}
"""
APART = {
    "a column is used alone": "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) A[i][j] = A[i][j] + v[j];",
    "a row is used alone": "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) A[i][j] = A[i][j] + v[i];",
    "an iterator is a number": "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) A[i][j] = j;",
    "elements beside": "for (int i = 0; i < 8; i++) for (int j = 0; j < 13; j++) A[i][j] = A[i][j + 1];",
    "part of a row": "for (int i = 0; i < 8; i++) for (int j = 0; j < 13; j++) A[i][j] = 0;",
    "a triangle": "for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) A[i][j] = 0;",
    "transposed": "for (int j = 0; j < 14; j++) for (int i = 0; i < 8; i++) A[i][j] = 0;",
    "something between": "for (int i = 0; i < 8; i++) { v[i] = 0; for (int j = 0; j < 14; j++) A[i][j] = 0; }",
    "backwards": "for (int i = 7; i >= 0; i--) for (int j = 13; j >= 0; j--) A[i][j] = A[i][j] * 2;",
    "written rows with a shift": "for (int i = 1; i < 8; i++) for (int j = 0; j < 14; j++) A[i][j] = A[i - 1][j] * 2;",
    "another nest in columns": "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) A[i][j] = 0;"
                               "for (int i = 0; i < 8; i++) A[i][3] = 1;",
    "every other row": "for (int i = 0; i < 8; i += 2) for (int j = 0; j < 14; j++) A[i][j] = 0;",
    "subscripts on data": "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) A[p[i]][j] = 0;",
    "rows anywhere in memory": "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) R[i][j] = 0;",
    "rows of any length": "for (unsigned long i = 0; i < n; i++) for (unsigned long j = 0; j < n; j++)"
                          " v[0] = v[i * n + j] > v[0] ? v[i * n + j] : v[0];",
    "whole vectors": "for (int i = 0; i < 8; i++) for (int j = 0; j < 16; j++) E[i][j] = 0;",
    "a sum without rows": "for (int k = 0; k < 9; k++) for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++)"
                          " A[i][j] += F[k][i][j];",
}


def collapsed(text: str) -> tuple[Scop, list[str]]:
    after, loops = collapse_rows(analyse(from_c_text(text)), BYTES)
    return after.scop, [str(one) for one in loops]


def test_a_pointwise_convolution_walks_its_images_in_one_loop() -> None:
    scop, loops = collapsed(POINTWISE)
    assert loops == ["y and x of S0: one loop over rows of 14"]
    (statement,) = scop.statements
    assert statement.iterators == ("o", "yx", "c", "r", "s")
    assert [a.relation.to_str() for a in statement.writes] == [
        "{ S0[o, yx, c, r = 0, s = 0] -> Y[o, yx] : 0 <= o <= 4 and 0 <= yx <= 83 and 0 <= c <= 3 }"]
    assert scop.array("X").c_element == "((const double *)X[{}])[{}]"


def test_every_nest_that_shares_an_array_is_collapsed_with_it() -> None:
    _, loops = collapsed(NESTS)
    assert sorted(loops) == ["i and j of S0: one loop over rows of 14", "i and j of S2: one loop over rows of 14",
                             "i and j of S3: one loop over rows of 14", "y and x of S1: one loop over rows of 14"]


def test_three_loops_become_one() -> None:
    text = "void f(float A[9][7][7]) {\n#pragma scop\nfor (int i = 0; i < 9; i++) for (int j = 0; j < 7; j++)"
    scop, loops = collapsed(f"{text} for (int k = 0; k < 7; k++) A[i][j][k] *= 2;\n#pragma endscop\n}}")
    assert loops == ["j and k of S0: one loop over rows of 7", "i and jk of S0: one loop over rows of 49"]
    assert scop.array("A").c_element == "((float *)A)[{}]"


def test_loops_around_others_that_walk_another_array_become_one_after_them() -> None:
    body = ("for (int e = 0; e < 3; e++) for (int a = 0; a < 8; a++) for (int b = 0; b < 14; b++)"
            " for (int c = 0; c < 8; c++) for (int d = 0; d < 14; d++)")
    head = f"void f(double v[3], double A[8][14], double B[8][14]) {{\n#pragma scop\n{body}"
    scop, loops = collapsed(f"{head} v[e] += A[a][b] * B[c][d];\n#pragma endscop\n}}")
    assert loops == ["a and b of S0: one loop over rows of 14", "c and d of S0: one loop over rows of 14"]
    assert scop.statement("S0").iterators == ("e", "ab", "cd")
    assert collapsed(f"{head} v[e] += A[a][b] * A[c][d];\n#pragma endscop\n}}")[1] == []


@pytest.mark.parametrize(("declared", "loops"), [
    ("long", 1), ("float", 1), ("unsigned char", 1), ("long double", 1), ("long long", 0),
    ("unsigned long long int", 0), ("_Float64", 0), ("enum color", 0), ("word", 0), ("const word", 0)])
def test_elements_that_no_pointer_of_ours_may_reach_stay_in_their_rows(declared: str, loops: int) -> None:
    """`((long *)A)[ij]` is nothing that a compiler takes for an element of `long long A[8][14]`."""
    text = (f"enum color {{ RED }}; typedef long long word; void f({declared} A[8][14], double s[1]) {{\n#pragma scop\n"
            "for (int i = 0; i < 8; i++) for (int j = 0; j < 14; j++) s[0] += A[i][j];\n#pragma endscop\n}")
    assert len(collapsed(text)[1]) == loops


@pytest.mark.parametrize("name", APART)
def test_these_loops_stay_two(name: str) -> None:
    text = ("void f(double A[8][14], double v[14], double E[8][16], double F[9][8][14], double **R, int *p,"
            f" unsigned long n) {{\n#pragma scop\n{APART[name]}\n#pragma endscop\n}}")
    assert collapsed(text)[1] == []


SUM_ALONG_WHOLE_VECTORS = """
void f(float Y[5][6][56], float X[4][6][56], float W[5][4])
{
#pragma scop
    for (int o = 0; o < 5; o++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 56; x++)
                for (int c = 0; c < 4; c++)
                    Y[o][y][x] += X[c][y][x] * W[o][c];
#pragma endscop
}
"""


def test_rows_of_a_sum_that_end_within_a_register_block_are_collapsed() -> None:
    """56 floats are seven vectors of 8: whole vectors, but three and a half blocks of two."""
    def loops(text: str, vector_bytes: int, loss: float) -> list[str]:
        asked: list[int] = []

        def row_loss(vectors: int) -> float:
            asked.append(vectors)
            return loss
        found = collapse_rows(analyse(from_c_text(text)), vector_bytes, row_loss)[1]
        assert set(asked) <= {56 * 4 // vector_bytes}
        return [str(one) for one in found]
    assert loops(SUM_ALONG_WHOLE_VECTORS, 32, 1.1) == ["y and x of S0: one loop over rows of 56"]
    assert loops(SUM_ALONG_WHOLE_VECTORS, 32, 1.05) == []
    assert loops(SUM_ALONG_WHOLE_VECTORS, 64, 1.0) == ["y and x of S0: one loop over rows of 56"]   # half a vector
    assert loops(SUM_ALONG_WHOLE_VECTORS.replace("Y[o][y][x] +=", "Y[o][y][x] =").replace(
        "for (int c = 0; c < 4; c++)", "").replace("[c]", "[0]"), 32, 1.1) == [], "no sum, no register block"


def test_loops_chosen_by_hand_stay() -> None:
    given = PipelineOptions(vector_bits=512)
    assert given.collapses_for() == BYTES
    by_hand: list[dict[str, Any]] = [{"tile": (2, 2, 2)}, {"tile": "off"}, {"collapse": False}, {"outer_tiles": (8,)},
                                     {"register_block": (4, 2)}]
    assert [replace(given, **options).collapses_for() for options in by_hand] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(("text", "bits"), [
    (POINTWISE, 256), (POINTWISE, 512), (NESTS, 512), (SUM_ALONG_WHOLE_VECTORS.replace("float", "double"), 512)])
def test_the_numbers_are_the_same(text: str, bits: int, tmp_path: Path) -> None:
    scop = from_c_text(text)
    optimized = optimize(scop, PipelineOptions(vector_bits=bits))
    assert optimized.collapsed
    n = 9
    shapes = {a.name: [int(e.replace("n", str(n))) for e in a.c_extents] for a in scop.arrays if a.name != "t"}
    generator = np.random.default_rng(7)
    arrays = {name: generator.integers(-9, 9, size=shape).astype(float) for name, shape in shapes.items()}
    order = [name for name in ("A", "B", "C", "s", "D") if name in arrays] or ["Y", "X", "W"]
    expected = {name: a.copy() for name, a in arrays.items()}
    local = {"t": np.zeros((5, 7, 14))} if "t" in {a.name for a in scop.arrays} else {}
    execute(scop, {"n": n} if scop.parameters else {}, expected | local)
    before, _, after = text.partition("#pragma scop")
    function = load(before + optimized.text + after.partition("#pragma endscop")[2], tmp_path, flags=("-O2",)).f
    pointers = [arrays[name].ctypes.data_as(ctypes.c_void_p) for name in order]
    function(*([ctypes.c_int(n)] if scop.parameters else []), *pointers)
    for name in order:
        assert np.array_equal(arrays[name], expected[name]), name


def test_rows_of_tensor_expressions_are_collapsed() -> None:
    image, weights, d = placeholder("X", (5, 6, 14)), placeholder("W", (3, 5)), axis("d")
    program = build(compute((3, 6, 14), lambda c, y, x: summed(weights[c, d] * image[d, y, x], over=d), name="T"))
    after, loops = collapse_rows(analyse(program), BYTES)
    assert [loop.row for loop in loops] == [14]
    assert {array.name: len(array.extents) for array in after.scop.arrays} == {"X": 2, "W": 2, "T": 2}
