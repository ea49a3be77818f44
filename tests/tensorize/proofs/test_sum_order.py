"""Units that add several floats to one: what keeps the program's order, bit for bit, and what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.tensorize import Intrinsic, find_intrinsic
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.proofs.sum_order import negative_zeros, runs_in_order
from tests.tensorize.described import executes, matched, program, unit, with_odd_floats

STRICT = Numerics(reassociate=False, contract=False, flush=False, finite=False)
UP = "for (int k = 0; k < 4; k++)"
ROWS = "float C[4], const float A[4][4], const float B[4]"
DOT = unit("dot", ROWS, f"for (int i = 0; i < 4; i++) {UP} C[i] += A[i][k] * B[k];")
OUTER = unit("outer_dot", ROWS, f"{UP} for (int i = 0; i < 4; i++) C[i] += A[i][k] * B[k];")
DOWN = unit("down", ROWS, "for (int i = 0; i < 4; i++) for (int k = 3; k >= 0; k--) C[i] += A[i][k] * B[k];")
FUSED = unit("fused", ROWS, f"for (int i = 0; i < 4; i++) {UP} C[i] = fma_f32(A[i][k], B[k], C[i]);")
APART = unit("apart", ROWS, f"for (int i = 0; i < 4; i++) {{ float t = 0; {UP} t += A[i][k] * B[k]; C[i] += t; }}")
CLEARED = unit("cleared", ROWS, f"for (int i = 0; i < 4; i++) C[i] = 0; for (int i = 0; i < 4; i++) {UP} "
                                "C[i] += A[i][k] * B[k];")
SQUARE = unit("square", "float C[2], const float A[2][2][2]", "for (int i = 0; i < 2; i++) for (int k = 0; k < 2; k++) "
              "for (int l = 0; l < 2; l++) C[i] += A[i][k][l];")
ACROSS = unit("across", "float C[2], const float A[2][2][2], const float B[2]", "for (int i = 0; i < 2; i++) "
              "for (int k = 0; k < 2; k++) for (int l = 0; l < 2; l++) C[i] += A[i][k][l] * B[k];")
TURNED = unit("turned", "float C[2], const float A[2][2][2], const float B[2]", "for (int i = 0; i < 2; i++) "
              "for (int l = 0; l < 2; l++) for (int k = 0; k < 2; k++) C[i] += A[i][k][l] * B[k];")
WHOLE = unit("whole", "double C[4], const int16_t A[4][4]", f"for (int i = 0; i < 4; i++) {UP} C[i] += A[i][k];")
LESS = unit("less", ROWS, f"for (int i = 0; i < 4; i++) {UP} C[i] -= A[i][k] * B[k];")
LARGEST = unit("largest", "int32_t C[4], const int32_t A[4][4]",
               f"for (int i = 0; i < 4; i++) {UP} C[i] = (C[i] >> 1) ^ A[i][k];")
LANES = unit("lanes", "float C[4], const float A[4], const float B[4]",
             "for (int i = 0; i < 4; i++) C[i] += A[i] * B[i];")
FACTOR = unit("factor", ROWS, f"for (int i = 0; i < 4; i++) {UP} C[i] += A[i][k] * B[i];")
FROM_ZERO = "for (int i = 0; i < 8; i++) {{ C[i] = 0; for (int k = 0; k < {}; k++) C[i] += A[i][k] * B[k]; }}"
DOWNWARDS = "for (int i = 0; i < 8; i++) for (int k = {}; k >= 0; k--) C[i] += A[i][k] * B[k];"


def _loops(body: str, /, **ends: int) -> str:
    return "".join(f"for (int {n} = 0; {n} < {end}; {n}++) " for n, end in ends.items()) + body


VECTOR = "float C[8], const float A[8][{0}], const float B[{0}]"
CUBE = "float C[4], const float A[4][4][6], const float B[4]"
SAME: dict[str, tuple[Intrinsic, str, str]] = {
    "as described": (DOT, VECTOR.format(12), _loops("C[i] += A[i][k] * B[k];", i=8, k=12)),
    "sum outside": (DOT, VECTOR.format(8), _loops("C[i] += A[i][k] * B[k];", k=8, i=8)),
    "lanes inside": (OUTER, VECTOR.format(8), _loops("C[i] += B[k] * A[i][k];", i=8, k=8)),
    "padded": (DOT, VECTOR.format(7), _loops("C[i] += A[i][k] * B[k];", i=8, k=7)),
    "short": (DOT, VECTOR.format(1), _loops("C[i] += A[i][0] * B[0];", i=7)),
    "differences": (LESS, VECTOR.format(6), _loops("C[i] -= A[i][k] * B[k];", i=8, k=6)),
    "downwards": (DOWN, VECTOR.format(4), DOWNWARDS.format(3)),
    "elements from the end": (DOT, VECTOR.format(8), _loops("C[i] += A[i][7 - k] * B[7 - k];", i=8, k=8)),
    "from zero": (CLEARED, VECTOR.format(4), FROM_ZERO.format(4)),
    "cleared ahead": (DOT, VECTOR.format(9), FROM_ZERO.format(9)),
    "two sums": (SQUARE, "float C[5], const float A[5][4][6]", _loops("C[i] += A[i][k][l];", i=5, k=4, l=6)),
    "outer sum first": (ACROSS, CUBE, _loops("C[i] += A[i][k][l] * B[k];", i=4, k=2, l=2)),
    "whole numbers": (WHOLE, "double C[6], const int16_t A[6][8]", _loops("C[i] += A[i][k];", i=6, k=8)),
    "no sum": (LARGEST, "int32_t C[6], const int32_t A[6][8]", _loops("C[i] = (C[i] >> 1) ^ A[i][k];", i=6, k=8)),
}
SAME["pairs"] = (SQUARE, "float C[8], const float A[8][4][2]",
                 _loops("C[i] += A[i][k][0] + A[i][k][1];", i=8, k=4))
REFUSED: dict[str, tuple[Intrinsic, str, str, str]] = {
    "downwards": (DOT, VECTOR.format(8), DOWNWARDS.format(7), "another order"),
    "upwards": (DOWN, VECTOR.format(8), _loops("C[i] += A[i][k] * B[k];", i=8, k=8), "another order"),
    "a sum of its own": (APART, VECTOR.format(8), _loops("C[i] += A[i][k] * B[k];", i=8, k=8), "reorders float"),
    "lanes downwards": (LANES, VECTOR.format(8), DOWNWARDS.format(7), "another order"),
    "rounded once": (FUSED, VECTOR.format(8), _loops("C[i] += A[i][k] * B[k];", i=8, k=8), "one rounding"),
    "the other sum first": (TURNED, CUBE, _loops("C[i] += A[i][k][l] * B[k];", i=4, k=2, l=2), "another order"),
    "a long inner sum": (ACROSS, CUBE, _loops("C[i] += A[i][k][l] * B[k];", i=4, k=4, l=6), "another order"),
    "padded whole numbers": (WHOLE, "double C[6], const int16_t A[6][7]", _loops("C[i] += A[i][k];", i=6, k=7), "-0.0"),
    "padded factor": (FACTOR, "float C[8], const float A[8][7], const float B[8]",
                      _loops("C[i] += A[i][k] * B[i];", i=8, k=7), "-0.0"),
}


@pytest.mark.parametrize("name", SAME)
def test_sums_in_the_order_of_the_text_match_bit_for_bit(name: str, tmp_path: Path) -> None:
    intrinsic, parameters, body = SAME[name]
    scop = program(parameters, body)
    found = matched(scop, intrinsic, numerics=STRICT)
    assert executes(scop, found, tmp_path, fill=with_odd_floats) >= found.count > 0


@pytest.mark.parametrize("name", REFUSED)
def test_sums_in_another_order_are_refused(name: str) -> None:
    intrinsic, parameters, body, why = REFUSED[name]
    found = matched(program(parameters, body), intrinsic, numerics=STRICT)
    assert not found.count
    assert why in " ".join([*map(str, found.explanations), *found.refused])


def test_what_the_manual_leaves_open_is_no_order() -> None:
    assert runs_in_order(DOT)
    assert not runs_in_order(replace(DOT, any_order=True))
    assert not any(runs_in_order(find_intrinsic(n)) for n in ("mma_16x16x16", "davinci_cube", "cblas_sgemv"))


def test_signs_of_padding() -> None:
    assert negative_zeros(DOT) == {"A"}
    assert negative_zeros(LESS) == frozenset()
    assert negative_zeros(WHOLE) is None
