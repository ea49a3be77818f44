"""Instructions that replace their result by a sum from zero, or leave out instances; programs of one iteration."""

from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from tests.tensorize.described import executes, matched, programs_of, unit

UNITS = {u.name: u for u in (
    unit("dots", "int32_t C[4], const int8_t A[8], const int8_t B[4][8]",
         "for (int i = 0; i < 4; i++) { int32_t t = 0; for (int k = 0; k < 8; k++) t += A[k] * B[i][k]; C[i] = t; }"),
    unit("dots_in_place", "int32_t C[4], const int8_t A[8], const int8_t B[4][8]",
         "for (int i = 0; i < 4; i++) { C[i] = 0; for (int k = 0; k < 8; k++) C[i] += A[k] * B[i][k]; }"),
    unit("float_dots", "float C[4], const float A[2], const float B[4][2]",
         "for (int i = 0; i < 4; i++) { float t = 0; for (int k = 0; k < 2; k++) t += A[k] * B[i][k]; C[i] = t; }"),
    unit("lower", "int32_t y[8], const int16_t L[8][8], const int16_t x[8]",
         "for (int i = 0; i < 8; i++) for (int k = 0; k <= i; k++) y[i] += L[i][k] * x[k];"),
    unit("upper", "int32_t y[8], const int16_t L[8][8]",
         "for (int i = 0; i < 8; i++) for (int k = i; k < 8; k++) y[i] += L[i][k];"),
    unit("sum", "int32_t C[8], const int8_t A[8], const int8_t B[8]",
         "for (int i = 0; i < 8; i++) C[i] += A[i] * B[i];"),
    unit("half", "int32_t C[8], const int32_t A[8]", "for (int i = 0; i < 8; i++) C[i] += A[i] / 2u;"),
)}
ARRAYS = ("int32_t C[7][5], int32_t D[7][5], int8_t A[7][8], int8_t B[5][8], int8_t W[5][17], int8_t V[7][17], "
          "int16_t T[3][8][8], int16_t X[3][8], int32_t Y[3][8], int16_t S[19][19], int16_t Z[19], int32_t U[19], "
          "float F[7][5], float G[7][2], float H[5][2]")
NEST = "for (int i = 0; i < 7; i++) for (int j = 0; j < 5; j++) "
MATCHED = {   # body, unit
    "cleared": (NEST + "{ C[i][j] = 0; for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k]; }", "dots"),
    "cleared before": (NEST + "C[i][j] = 0;" + NEST + "for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k];",
                       "dots_in_place"),
    "a scalar": (NEST + "{ int32_t s = 0; for (int k = 0; k < 8; k++) s += B[j][k] * A[i][k]; C[i][j] = s; }", "dots"),
    "shorter": (NEST + "{ C[i][j] = 0; for (int k = 0; k < 5; k++) C[i][j] += A[i][k] * B[j][k]; }", "dots"),
    "floats": (NEST + "{ F[i][j] = 0; for (int k = 0; k < 2; k++) F[i][j] += G[i][k] * H[j][k]; }", "float_dots"),
    "triangle": ("for (int b = 0; b < 3; b++) for (int j = 0; j < 8; j++) for (int k = 0; k <= j; k++) "
                 "Y[b][j] += T[b][j][k] * X[b][k];", "lower"),
    "part of a triangle": ("for (int b = 0; b < 3; b++) for (int j = 2; j < 8; j++) for (int k = 0; k < j - 1; k++) "
                           "Y[b][j] += T[b][j][k] * X[b][k];", "lower"),
    "upper triangle": ("for (int b = 0; b < 3; b++) for (int j = 0; j < 8; j++) for (int k = j; k < 8; k++) "
                       "Y[b][j] += T[b][j][k];", "upper"),
    "one iteration": ("U[3] += A[2][1] * B[4][0];", "sum"),
    "loops of one iteration": ("for (int k = 4; k < 5; k++) U[k] += A[k][k] * B[k][0];", "sum"),
}
REFUSED = {   # body, unit, words
    "longer": (NEST + "{ C[i][j] = 0; for (int k = 0; k < 17; k++) C[i][j] += V[i][k] * W[j][k]; }", "dots",
               "the sum over k takes several executions"),
    "not cleared": (NEST + "for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k];", "dots", "no statement clears"),
    "from one": (NEST + "{ C[i][j] = 1; for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k]; }", "dots",
                 "no statement clears"),
    "another cleared": (NEST + "{ D[i][j] = 0; for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k]; }", "dots",
                        "no statement clears"),
    "fewer cleared": ("for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) C[i][j] = 0;" + NEST +
                      "for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k];", "dots", "no statement clears"),
    "used between": (NEST + "C[i][j] = 0;" + NEST + "C[i][j] += D[i][j];" + NEST +
                     "for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[j][k];", "dots", "no statement clears"),
    "one more": ("for (int b = 0; b < 3; b++) for (int j = 0; j < 7; j++) for (int k = 0; k <= j + 1; k++) "
                 "Y[b][j] += T[b][j][k] * X[b][k];", "lower", "lower computes nothing at (i = 0, k = 1)"),
    "a larger triangle": ("for (int j = 0; j < 19; j++) for (int k = 0; k <= j; k++) U[j] += S[j][k] * Z[k];", "lower",
                          "lower computes nothing at"),
    "the other triangle": ("for (int b = 0; b < 3; b++) for (int j = 0; j < 8; j++) for (int k = j; k < 8; k++) "
                           "Y[b][j] += T[b][j][k] * X[b][k];", "lower", "lower computes nothing at"),
    "signed half": ("for (int i = 0; i < 19; i++) U[i] += D[0][0] / 2;", "half",
                    "would help: compute (int)(U[i] + D[0][0] / 2u), which is what half does"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: (ARRAYS, case[0]) for name, case in (*MATCHED.items(), *REFUSED.items())}
    return programs_of(texts, tmp_path_factory.mktemp("replaced"))


@pytest.mark.parametrize("name", MATCHED)
def test_every_match_computes_what_the_program_does(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][1]]), tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_other_programs_are_refused(name: str, programs: dict[str, Scop]) -> None:
    _, by, words = REFUSED[name]
    found = matched(programs[name], UNITS[by])
    assert found.count == 0, str(found.matches[0])
    assert words in "\n".join(map(str, found.explanations))
