"""Instructions that write several operands at once: groups of statements, one per result; every match executed."""

from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from tests.tensorize.described import executes, matched, programs_of, unit

LOOP = "for (int i = 0; i < 8; i++)"
UNITS = {u.name: u for u in (
    unit("sorted", "uint8_t L[8], uint8_t H[8], const uint8_t A[8], const uint8_t B[8]",
         f"{LOOP} {{ L[i] = A[i] < B[i] ? A[i] : B[i]; H[i] = A[i] < B[i] ? B[i] : A[i]; }}"),
    unit("butterfly", "int32_t P[8], int32_t Q[8]",
         f"{LOOP} {{ int32_t t = P[i]; P[i] = t + Q[i]; Q[i] = t - Q[i]; }}"),
    unit("complex", "int32_t X[8], int32_t Y[8], const int16_t a[8], const int16_t b[8], const int16_t c[8], "
         "const int16_t d[8]",
         f"{LOOP} {{ X[i] += a[i] * c[i] - b[i] * d[i]; Y[i] += a[i] * d[i] + b[i] * c[i]; }}"),
    unit("complex_floats", "float X[8], float Y[8], const float a[8], const float b[8], const float c[8], "
         "const float d[8]",
         f"{LOOP} {{ X[i] = a[i] * c[i] - b[i] * d[i]; Y[i] = a[i] * d[i] + b[i] * c[i]; }}"),
    unit("moments", "int32_t S[4], int64_t Q[4], const int16_t A[4][2]",
         "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) { S[i] += A[i][k]; Q[i] += A[i][k] * A[i][k]; }"),
    unit("pairs", "int32_t O[4][2], const int16_t A[4][2], const int16_t B[4][2]",
         "for (int i = 0; i < 4; i++) { O[i][0] += A[i][0] * B[i][0] - A[i][1] * B[i][1]; "
         "O[i][1] += A[i][0] * B[i][1] + A[i][1] * B[i][0]; }"),
    unit("three", "int16_t X[8], int32_t Y[8], uint8_t Z[8], const uint8_t A[8], const uint8_t B[8]",
         f"{LOOP} {{ X[i] = A[i] - B[i]; Y[i] = A[i] * B[i]; Z[i] = (A[i] + B[i] + 1) >> 1; }}"),
)}
ARRAYS = ("uint8_t A[19], uint8_t B[19], uint8_t L[19], uint8_t H[19], int32_t P[5][19], int32_t Q[5][19], "
          "int16_t a[5][19], int16_t b[5][19], int16_t c[19], int16_t d[19], int32_t S[7], int64_t T[7], "
          "int16_t M[7][9], int16_t X[19], int32_t Y[19], int32_t V[19][2], int16_t v[19][2], int16_t w[19][2], "
          "float F[19], float G[19], float f[19], float g[19], float p[19], float q[19]")
EACH = "for (int i = 0; i < 19; i++) "
NEST = "for (int i = 0; i < 5; i++) for (int j = 0; j < 19; j++) "
MINIMUM, MAXIMUM = "L[i] = A[i] < B[i] ? A[i] : B[i];", "H[i] = B[i] < A[i] ? A[i] : B[i];"
REAL, IMAGINARY = "P[i][j] += a[i][j] * c[j] - b[i][j] * d[j];", "Q[i][j] += a[i][j] * d[j] + b[i][j] * c[j];"
MATCHED = {   # body, unit
    "one nest": (EACH + f"{{ {MINIMUM} {MAXIMUM} }}", "sorted"),
    "the other order": (EACH + f"{{ {MAXIMUM} {MINIMUM} }}", "sorted"),
    "two nests": (EACH + MAXIMUM + EACH + MINIMUM, "sorted"),
    "other iterators": (EACH + MINIMUM + "for (int j = 0; j < 19; j++) H[j] = A[j] > B[j] ? A[j] : B[j];", "sorted"),
    "another statement between": (EACH + MAXIMUM + EACH + "X[i] = c[i] + 1;" + EACH + MINIMUM, "sorted"),
    "in place": (EACH + "{ uint8_t x = A[i], y = B[i]; A[i] = x < y ? x : y; B[i] = x < y ? y : x; }", "sorted"),
    "in place, swapped": (EACH + "{ uint8_t x = A[i], y = B[i]; A[i] = x < y ? y : x; B[i] = x < y ? x : y; }",
                          "sorted"),
    "butterfly": (NEST + "{ int t = P[i][j]; P[i][j] = t + Q[i][j]; Q[i][j] = t - Q[i][j]; }", "butterfly"),
    "butterfly without a local": (NEST + "{ P[i][j] += Q[i][j]; Q[i][j] = P[i][j] - 2 * Q[i][j]; }", "butterfly"),
    "butterfly, other words": (NEST + "{ int s = P[i][j] + Q[i][j], t = P[i][j] - Q[i][j]; Q[i][j] = t; P[i][j] = s; }",
                               "butterfly"),
    "complex product": (NEST + f"{{ {REAL} {IMAGINARY} }}", "complex"),
    "complex product in two nests": (NEST + IMAGINARY + NEST + REAL, "complex"),
    "conjugate": (NEST + "{ Q[i][j] += a[i][j] * c[j] - b[i][j] * d[j]; P[i][j] += c[j] * b[i][j] + d[j] * a[i][j]; }",
                  "complex"),
    "floats": (EACH + "{ F[i] = f[i] * p[i] - g[i] * q[i]; G[i] = f[i] * q[i] + g[i] * p[i]; }", "complex_floats"),
    "pairs": (EACH + "{ V[i][0] += v[i][0] * w[i][0] - v[i][1] * w[i][1]; "
              "V[i][1] += v[i][1] * w[i][0] + v[i][0] * w[i][1]; }", "pairs"),
    "pairs from apart": (EACH + "{ P[0][i] += a[0][i] * c[i] - b[0][i] * d[i]; "
                         "Q[1][i] += a[0][i] * d[i] + b[0][i] * c[i]; }", "pairs"),
    "sums": ("for (int i = 0; i < 7; i++) for (int k = 0; k < 9; k++) { T[i] += M[i][k] * M[i][k]; S[i] += M[i][k]; }",
             "moments"),
    "three results": (EACH + "{ L[i] = (A[i] + B[i] + 1) / 2; Y[i] = B[i] * A[i]; X[i] = A[i] - B[i]; }", "three"),
}
REFUSED = {   # body, unit, words
    "one result twice": (EACH + f"{{ {MINIMUM} H[i] = B[i] > A[i] ? A[i] : B[i]; }}", "sorted", "no match"),
    "another operand": (EACH + f"{{ {MINIMUM} H[i] = B[i] > c[i] ? c[i] : B[i]; }}", "sorted", "no match"),
    "another element": ("for (int i = 0; i < 18; i++) { L[i] = A[i] < B[i] ? A[i] : B[i]; "
                        "H[i] = A[i + 1] < B[i] ? B[i] : A[i + 1]; }", "sorted", "no match"),
    "another pattern": ("for (int i = 0; i < 19; i++) { L[i] = A[i] < B[i] ? A[i] : B[i]; "
                        "H[0] = A[i] < B[i] ? B[i] : A[i]; }", "sorted", "in one pattern"),
    "other loops": (EACH + MINIMUM + "for (int i = 0; i < 18; i++) " + MAXIMUM, "sorted", "have the same loops"),
    "overwritten between": (EACH + MINIMUM + EACH + "A[i] = 3;" + EACH + MAXIMUM, "sorted", "change their order"),
    "overwritten by the first": (EACH + "{ A[i] = A[i] < B[i] ? A[i] : B[i]; H[i] = A[i] < B[i] ? B[i] : A[i]; }",
                                 "sorted", "no match"),
    "neighbours": ("for (int i = 0; i < 18; i++) { uint8_t x = A[i], y = A[i + 1]; A[i] = x < y ? x : y; "
                   "A[i + 1] = x < y ? y : x; }", "sorted", "reads elements of A that its other iterations write"),
    "read twice": (NEST + "{ P[i][j] = P[i][j] + Q[i][j]; Q[i][j] = P[i][j] - Q[i][j]; }", "butterfly", "no match"),
    "swapped difference": (NEST + "{ int t = P[i][j]; P[i][j] = t + Q[i][j]; Q[i][j] = Q[i][j] - t; }", "butterfly",
                           "no match"),
    "narrower": (NEST + "{ int t = P[i][j]; P[i][j] = (int16_t)(t + Q[i][j]); Q[i][j] = t - Q[i][j]; }", "butterfly",
                 "no match"),
    "pairs with one part twice": (EACH + "{ V[i][0] += v[i][0] * w[i][0] - v[i][1] * w[i][1]; "
                                  "V[i][1] += v[i][1] * w[i][1] + v[i][0] * w[i][1]; }", "pairs", "no match"),
    "pairs that overlap": ("for (int i = 0; i < 18; i++) { V[i][0] += v[i][0] * w[i][0] - v[i][1] * w[i][1]; "
                           "V[i + 1][0] += v[i][1] * w[i][0] + v[i][0] * w[i][1]; }", "pairs",
                           "reads elements of V that its other iterations write"),
    "one sign": (NEST + f"{{ {REAL.replace('-', '+')} {IMAGINARY} }}", "complex", "no match"),
    "one wrap": (NEST + f"{{ P[i][j] += (int16_t)(a[i][j] * c[j]) - b[i][j] * d[j]; {IMAGINARY} }}", "complex",
                 "no match"),
    "one subscript": (NEST + f"{{ P[i][j] += a[i][j] * c[j] - b[i][j] * d[i]; {IMAGINARY} }}", "complex", "no match"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: (ARRAYS, case[0]) for name, case in (*MATCHED.items(), *REFUSED.items())}
    return programs_of(texts, tmp_path_factory.mktemp("several"))


@pytest.mark.parametrize("name", MATCHED)
def test_every_match_computes_what_the_program_does(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][1]]), tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_other_programs_are_refused(name: str, programs: dict[str, Scop]) -> None:
    _, by, words = REFUSED[name]
    found = matched(programs[name], UNITS[by])
    assert found.count == 0, str(found.matches[0])
    assert words in "\n".join(map(str, found.explanations))
