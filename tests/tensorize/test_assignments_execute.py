"""Instructions that assign: averages, packs, clamps, blends, masks, conversions; every match executed."""

from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from tests.tensorize.described import executes, matched, program, programs_of, unit

LOOP = "for (int i = 0; i < 8; i++)"
BYTES = "uint8_t O[8], const uint8_t A[8], const uint8_t B[8]"
UNITS = {u.name: u for u in (
    unit("average", BYTES, f"{LOOP} O[i] = (A[i] + B[i] + 1) >> 1;"),
    unit("saturating_add", BYTES, f"{LOOP} O[i] = sat_u8(A[i] + B[i]);"),
    unit("pack", "int8_t O[8], const int32_t A[8]", f"{LOOP} O[i] = sat_i8(A[i]);"),
    unit("rounding_high", "int16_t O[8], const int16_t A[8], const int16_t B[8]",
         f"{LOOP} O[i] = (((A[i] * B[i]) >> 14) + 1) >> 1;"),
    unit("clamp", "int32_t O[8], const int32_t A[8]", f"{LOOP} O[i] = clamp_i32(A[i], 0, 255);"),
    unit("blend", "uint8_t O[8], const uint8_t M[8], const uint8_t A[8], const uint8_t B[8]",
         f"{LOOP} O[i] = M[i] > 127 ? A[i] : B[i];"),
    unit("mask", "uint8_t O[8], const int8_t A[8], const int8_t B[8]", f"{LOOP} O[i] = A[i] > B[i] ? 255 : 0;"),
    unit("widen", "int32_t O[8], const int8_t A[8]", f"{LOOP} O[i] = A[i];"),
    unit("to_float", "float O[8], const int16_t A[8]", f"{LOOP} O[i] = A[i];"),
    unit("population_of_two", "int32_t O[8], const uint8_t A[8]", f"{LOOP} O[i] = popcount_u32(A[i] & 3);"),
    unit("binary_places", "int32_t O[8], const uint8_t A[8]", f"{LOOP} O[i] = 32 - clz_u32(A[i]);"),
    unit("exchange", "int32_t L[8], int32_t H[8]", f"{LOOP} {{ int32_t a = L[i]; int32_t b = H[i]; "
         "L[i] = min_i32(a, b); H[i] = max_i32(a, b); }"),
    unit("distance", "uint8_t O[8], const int8_t A[8]", f"{LOOP} O[i] = abs(A[i]);"),
    unit("smaller", "int32_t O[8], const int32_t A[8], const int32_t B[8]", f"{LOOP} O[i] = min_i32(A[i], B[i]);"),
    unit("pairs", "int32_t O[8], const int16_t A[16], const int16_t B[16]",
         f"{LOOP} O[i] = A[2*i] * B[2*i] + A[2*i + 1] * B[2*i + 1];"),
    unit("transposed", "int16_t O[4][8], const int16_t A[8][4]",
         "for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) O[i][j] = A[j][i];"),
    unit("even_lanes", "int32_t O[16], const int32_t A[8]", f"{LOOP} O[2*i] = A[i] + 1;"),
    unit("counter", "int32_t O[8]", f"{LOOP} O[i] += 1;"),
    unit("cut_below", "int32_t O[8]", f"{LOOP} O[i] = O[i] < 0 ? 0 : O[i];"),
)}
ARRAYS = ("uint8_t O[19], uint8_t A[19], uint8_t B[19], uint8_t M[19], int32_t W[19], int32_t V[19], int8_t P[19], "
          "int8_t Q[19], int16_t S[19][2], int16_t T[19][2], int16_t H[19], float F[19], "
          "int16_t Z[5][11], int16_t X[11][5], uint8_t R[19][19], uint8_t L[19][19], uint8_t U[32], uint8_t D[32]")
EACH = "for (int i = 0; i < 19; i++) "
MATCHED = {   # body, unit
    "places of a number": (EACH + "W[i] = A[i] ? 32 - __builtin_clz(A[i]) : 0;", "binary_places"),
    "a sorting network's step": (
        EACH + "{ int a = W[i]; int b = V[18 - i]; W[i] = a < b ? a : b; V[18 - i] = a < b ? b : a; }", "exchange"),
    "average": (EACH + "O[i] = (A[i] + B[i] + 1) >> 1;", "average"),
    "in place": (EACH + "A[i] = (A[i] + B[i] + 1) >> 1;", "average"),
    "in place, whole tiles": ("for (int i = 0; i < 32; i++) U[i] = (U[i] + D[i] + 1) >> 1;", "average"),
    "in place, of words": (EACH + "{ int t = B[i]; t += A[i] + 1; B[i] = t / 2; }", "average"),
    "in place of itself": (EACH + "A[i] = (2 * A[i] + 1) >> 1;", "average"),
    "average of words": (EACH + "O[i] = (uint8_t)((1 + B[i] + (int32_t)A[i]) / 2);", "average"),
    "average of a triangle": ("for (int i = 0; i < 19; i++) for (int j = 0; j <= i; j++) "
                              "R[i][j] = (L[i][j] + A[j] + 1) >> 1;", "average"),
    "saturating add": (EACH + "O[i] = A[i] + B[i] > 255 ? 255 : A[i] + B[i];", "saturating_add"),
    "pack": (EACH + "P[i] = W[i] > 127 ? 127 : W[i] < -128 ? -128 : W[i];", "pack"),
    "pack by branches": (EACH + "{ int t = W[i]; if (t < -128) t = -128; if (t > 127) t = 127; P[i] = t; }", "pack"),
    "rounding high": (EACH + "H[i] = (S[i][0] * T[i][1] + (1 << 14)) >> 15;", "rounding_high"),
    "clamp": (EACH + "V[i] = W[i] < 0 ? 0 : W[i] > 255 ? 255 : W[i];", "clamp"),
    "clamp by branches": (EACH + "if (W[i] < 0) V[i] = 0; else if (W[i] > 255) V[i] = 255; else V[i] = W[i];", "clamp"),
    "blend by a branch": (EACH + "if (M[i] > 127) O[i] = A[i]; else O[i] = B[i];", "blend"),
    "smaller by a branch": (EACH + "{ int t = W[i]; if (t < 7) V[i] = t; else V[i] = 7; }", "smaller"),
    "other lanes": (EACH + "O[i] = M[i] < 128 ? B[i] : A[i];", "blend"),
    "blend": (EACH + "O[i] = M[i] < 128 ? A[i] : B[i];", "blend"),
    "mask": (EACH + "O[i] = P[i] <= Q[i] ? 0 : 255;", "mask"),
    "mask by negation": (EACH + "O[i] = -(Q[i] < P[i]);", "mask"),
    "widen": (EACH + "W[i] = P[i];", "widen"),
    "to float": (EACH + "F[i] = (float)H[i];", "to_float"),
    "abs": (EACH + "O[i] = abs(P[i]);", "distance"),
    "bits of two": (EACH + "W[i] = (A[i] & 1) + ((A[i] >> 1) & 1);", "population_of_two"),
    "distance": (EACH + "O[i] = P[i] < 0 ? -P[i] : P[i];", "distance"),
    "smaller": (EACH + "V[i] = W[i] > 7 ? 7 : W[i];", "smaller"),
    "pairs": (EACH + "W[i] = S[i][0] * T[i][0] + S[i][1] * T[i][1];", "pairs"),
    "transposed": ("for (int i = 0; i < 11; i++) for (int j = 0; j < 5; j++) X[i][j] = Z[j][i];", "transposed"),
    "even lanes": (EACH + "V[i] = W[i] + 1;", "even_lanes"),
    "a constant is added": (EACH + "V[i] += 1;", "counter"),
    "the result alone": (EACH + "V[i] = V[i] > 0 ? V[i] : 0;", "cut_below"),
}
REFUSED = {   # body, unit, words
    "average without rounding": (EACH + "O[i] = (A[i] + B[i]) >> 1;", "average", "does not have the form"),
    "sum of averages": (EACH + "O[i] += (A[i] + B[i] + 1) >> 1;", "average",
                        "O[i] = (unsigned char)(O[i] + (A[i] + B[i] + 1 >> 1)) against O[i] = (A[i] + B[i] + 1) >> 1"),
    "average that wraps": (EACH + "O[i] = (uint8_t)(A[i] + B[i] + 1) >> 1;", "average", "in its own arithmetic"),
    "blend by another branch": (EACH + "if (M[i] > 126) O[i] = A[i]; else O[i] = B[i];", "blend", "M[i] = 127"),
    "wrapping add": (EACH + "O[i] = A[i] + B[i];", "saturating_add", "in its own arithmetic"),
    "other bounds": (EACH + "P[i] = W[i] > 127 ? 127 : W[i] < -127 ? -127 : W[i];", "pack",
                     "W[i] = -2147483648: -127 against -128"),
    "high product": (EACH + "H[i] = (S[i][0] * T[i][1]) >> 15;", "rounding_high",
                     "is not rounding_high's in its own arithmetic (S[i][0] ="),
    "other threshold": (EACH + "O[i] = M[i] < 127 ? B[i] : A[i];", "blend",
                        "M[i] = 127, B[i] = 91, A[i] = 205: 205 against 91"),
    "at least": (EACH + "O[i] = P[i] >= Q[i] ? 255 : 0;", "mask",
                 "(P[i] >= Q[i] ? 255 : 0) against O[i] = (A[i] > B[i] ? 255 : 0)"),
    "zero extension": (EACH + "W[i] = (uint8_t)P[i];", "widen", "P[i] = -128: 128 against -128"),
    "again": ("for (int k = 0; k < 19; k++) for (int i = 0; i < 19; i++) O[i] = (R[k][i] + B[i] + 1) >> 1;", "average",
              "again in every iteration of k"),
    "in place, one further": ("for (int i = 0; i < 18; i++) A[i + 1] = (A[i] + B[i] + 1) >> 1;", "average",
                              "reads elements of A that its other iterations write"),
    "in place, again": ("for (int k = 0; k < 9; k++) for (int i = 0; i < 19; i++) A[i] = (A[i] + R[k][i] + 1) >> 1;",
                        "average", "again in every iteration of k"),
    "another constant": (EACH + "V[i] += 2;", "counter", "V[i] = V[i] + 2 against O[i] = 1 + O[i]"),
    "swapped parts": (EACH + "W[i] = S[i][0] * T[i][0] - S[i][1] * T[i][1];", "pairs", "does not have the form"),
}


POINTERS = "int n, uint8_t O[n], const uint8_t M[n], const uint8_t *A, const uint8_t *B"
UNREAD = {   # A and B may end where no iteration reads them: body, whether they are read anyway
    "choice": ("for (int i = 0; i < n; i++) O[i] = M[i] > 127 ? A[i] : B[i];", False),
    "branch": ("for (int i = 0; i < n; i++) if (M[i] > 127) O[i] = A[i]; else O[i] = B[i];", False),
    "read later": ("for (int i = 0; i < n; i++) O[i] = M[i] > 127 ? A[i] : B[i]; "
                   "for (int i = 0; i < n; i++) O[i] += A[i] * B[i];", True)}


@pytest.mark.parametrize("name", UNREAD)
def test_elements_that_no_iteration_may_read_are_not_read(name: str) -> None:
    body, exist = UNREAD[name]
    found = matched(program(POINTERS, body), UNITS["blend"])
    assert bool(found.count) == exist
    if not exist:
        assert "reads A[i] in every iteration, the program only where" in "\n".join(map(str, found.explanations))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: (ARRAYS, case[0]) for name, case in (*MATCHED.items(), *REFUSED.items())}
    return programs_of(texts, tmp_path_factory.mktemp("assignments"))


@pytest.mark.parametrize("name", MATCHED)
def test_every_match_computes_what_the_program_does(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][1]]), tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_other_functions_are_refused(name: str, programs: dict[str, Scop]) -> None:
    _, by, words = REFUSED[name]
    found = matched(programs[name], UNITS[by])
    assert found.count == 0, str(found.matches[0])
    assert words in "\n".join(map(str, found.explanations))
