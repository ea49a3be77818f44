"""Operands whose elements several instances access: windows, operands read in several places; and near misses."""

from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from tests.tensorize.described import executes, matched, programs_of, unit

SUMS = "int32_t Y[8], const int16_t X[{}], const int16_t W[4]"
LOOPS = "for (int i = 0; i < 8; i++) for (int k = 0; k < 4; k++)"
UNITS = {u.name: u for u in (
    unit("window", SUMS.format(11), f"{LOOPS} Y[i] += X[i + k] * W[k];"),
    unit("dilated", SUMS.format(14), f"{LOOPS} Y[i] += X[i + 2*k] * W[k];"),
    unit("strided", SUMS.format(18), f"{LOOPS} Y[i] += X[2*i + k] * W[k];"),
    unit("behind", SUMS.format(13), f"{LOOPS} Y[i] += X[i + k + 2] * W[k];"),
    unit("downwards", SUMS.format(11), f"{LOOPS} Y[i] += X[7 - i + k] * W[3 - k];"),
    unit("every_other", "int32_t Y[8], const int16_t X[16], const int16_t W[1]",
         "for (int i = 0; i < 8; i++) Y[i] += X[2*i + 1] * W[0];"),
    unit("part_of_a_register", "int32_t Y[8], const int16_t X[16], const int16_t W[1]",
         "for (int i = 0; i < 8; i++) Y[i] += X[i] * W[0];"),
    unit("diagonal", "int32_t Y[8], const int16_t X[8][8], const int16_t W[1]",
         "for (int i = 0; i < 8; i++) Y[i] += X[i][i] * W[0];"),
    unit("polynomial", "int32_t Y[11], const int16_t X[8], const int16_t W[4]", f"{LOOPS} Y[i + k] += X[i] * W[k];"),
    unit("plane", "int32_t Y[4][4], const int16_t X[6][6], const int16_t W[3][3]",
         "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) for (int p = 0; p < 3; p++) "
         "for (int q = 0; q < 3; q++) Y[i][j] += X[i + p][j + q] * W[p][q];"),
    unit("gram", "int32_t C[4][4], const int16_t A[4][2]",
         "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 2; k++) "
         "C[i][j] += A[i][k] * A[j][k];"),
    unit("square", "int32_t C[8], const int16_t A[8]", "for (int i = 0; i < 8; i++) C[i] += A[i] * A[i];"),
    unit("complex_real", "int32_t C[4], const int16_t A[8], const int16_t B[8]",
         "for (int i = 0; i < 4; i++) C[i] += A[2*i] * B[2*i] - A[2*i + 1] * B[2*i + 1];"),
)}

ARRAYS = "int32_t Y[19], int16_t X[70], int16_t W[5], int16_t Z[19][70]"
NEST = "for (int i = 0; i < 19; i++) for (int k = 0; k < 5; k++) "
SEVEN = "for (int i = 0; i < 7; i++) for (int k = 0; k < 3; k++) "
PLANE = "int32_t Y[2][5][6], int16_t X[8][9], int16_t W[2][3][2]"
GRAM = "int32_t C[4][4], int16_t A[4][5], int16_t B[4][5]"
COMPLEX = "int32_t C[7], int16_t A[7][2], int16_t B[7][2], int16_t R[7], int16_t I[7]"
MATCHED = {   # parameters, body, unit
    "window": (ARRAYS, NEST + "Y[i] += X[i + k] * W[k];", "window"),
    "scaled window": (ARRAYS, NEST + "Y[i] += X[2 * i + 2 * k + 1] * W[k];", "window"),
    "falling window": (ARRAYS, NEST + "Y[i] += X[60 - i - k] * W[k];", "window"),
    "short window": (ARRAYS, SEVEN + "Y[i] += X[i + k] * W[k];", "window"),
    "window of sums": (ARRAYS, NEST + "Y[i] += (X[i + k] >> 1) * W[k];", "window"),
    "window of a row": (ARRAYS, "for (int b = 0; b < 3; b++) " + NEST + "Y[i] += Z[b][i + k] * W[k];", "window"),
    "dilated": (ARRAYS, NEST + "Y[i] += X[i + 2 * k] * W[k];", "dilated"),
    "dilated and scaled": (ARRAYS, NEST + "Y[i] += X[2 * i + 4 * k] * W[k];", "dilated"),
    "strided": (ARRAYS, NEST + "Y[i] += X[2 * i + k] * W[k];", "strided"),
    "behind": (ARRAYS, NEST + "Y[i] += X[i + k] * W[k];", "behind"),
    "downwards": (ARRAYS, NEST + "Y[i] += X[20 - i + k] * W[4 - k];", "downwards"),
    "triangular window": (ARRAYS, "for (int i = 0; i < 19; i++) for (int k = 0; k <= i && k < 5; k++) "
                                  "Y[i] += X[i + k] * W[k];", "window"),
    "every other": (ARRAYS, "for (int i = 0; i < 19; i++) Y[i] += X[i] * W[0];", "every_other"),
    "part of a register": (ARRAYS, "for (int i = 0; i < 19; i++) Y[i] += X[i] * W[0];", "part_of_a_register"),
    "diagonal": (ARRAYS, "for (int i = 0; i < 19; i++) Y[i] += X[i] * W[0];", "diagonal"),
    "polynomial": ("int32_t Y[40], int16_t X[19], int16_t W[5]", NEST + "Y[i + k] += X[i] * W[k];", "polynomial"),
    "plane": (PLANE, "for (int c = 0; c < 2; c++) for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) "
                     "for (int p = 0; p < 3; p++) for (int q = 0; q < 2; q++) "
                     "Y[c][i][j] += X[i + p][j + q] * W[c][p][q];", "plane"),
    "gram": (GRAM, "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) "
                   "C[i][j] += A[i][k] * A[j][k];", "gram"),
    "lower gram": (GRAM, "for (int i = 0; i < 4; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < 5; k++) "
                         "C[i][j] += A[i][k] * A[j][k];", "gram"),
    "square": (COMPLEX, "for (int i = 0; i < 7; i++) C[i] += R[i] * R[i];", "square"),
    "complex": (COMPLEX, "for (int i = 0; i < 7; i++) C[i] += A[i][0] * B[i][0] - A[i][1] * B[i][1];",
                "complex_real"),
    "complex parts in arrays": (COMPLEX, "for (int i = 0; i < 7; i++) C[i] += R[i] * B[i][0] - I[i] * B[i][1];",
                                "complex_real"),
}
NEAR_MISSES = {   # the same, and the words
    "strided for a window": (ARRAYS, NEST + "Y[i] += X[2 * i + k] * W[k];", "window",
                             "operand X: window reads X[i + k]"),
    "dilated for a window": (ARRAYS, NEST + "Y[i] += X[i + 2 * k] * W[k];", "window", "one element of X for"),
    "matrix for a window": (ARRAYS, NEST + "Y[i] += Z[i][k] * W[k];", "window",
                            "one element of X for Z[i][k] at (i = "),
    "window for strided": (ARRAYS, NEST + "Y[i] += X[i + k] * W[k];", "strided", "operand X: strided reads X[2*i + k]"),
    "window for dilated": (ARRAYS, NEST + "Y[i] += X[i + k] * W[k];", "dilated", "operand X: dilated reads X[i + 2*k]"),
    "falling taps": (ARRAYS, NEST + "Y[i] += X[20 + i - k] * W[k];", "window", "one element of X"),
    "one tap more per row": (PLANE, "for (int c = 0; c < 2; c++) for (int i = 0; i < 5; i++) "
                             "for (int j = 0; j < 3; j++) for (int p = 0; p < 3; p++) for (int q = 0; q < 2; q++) "
                             "Y[c][i][j] += X[i + p][j + 2 * q] * W[c][p][q];", "plane", "operand X: plane reads"),
    "two matrices for one": (GRAM, "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) "
                             "for (int k = 0; k < 5; k++) C[i][j] += A[i][k] * B[j][k];", "gram",
                             "operand A: gram reads"),
    "two factors for a square": (COMPLEX, "for (int i = 0; i < 7; i++) C[i] += R[i] * I[i];", "square", "against"),
    "matrix for a polynomial": ("int32_t Y[19][5], int16_t X[19], int16_t W[5]", NEST + "Y[i][k] += X[i] * W[k];",
                                "polynomial", "operand Y: polynomial reads Y[i + k]"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: case[:2] for name, case in (*MATCHED.items(), *NEAR_MISSES.items())}
    return programs_of(texts, tmp_path_factory.mktemp("windows"))


@pytest.mark.parametrize("name", MATCHED)
def test_every_match_computes_what_the_program_does(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][2]]), tmp_path)


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_are_refused_with_two_iterations(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    """What is left runs in one row or column of the unit, the rest of it padding."""
    found = matched(programs[name], UNITS[NEAR_MISSES[name][2]])
    assert NEAR_MISSES[name][3] in "\n".join([*map(str, found.explanations), *found.refused])
    assert all(() in m.loops for m in found.matches), str(found.matches[0])
    if found.count:
        executes(programs[name], found, tmp_path)
