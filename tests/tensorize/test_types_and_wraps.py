"""Types, conversions, wraps and literals are part of the function: what differs in one of them is refused."""

from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from tests.tensorize.described import executes, matched, programs_of, unit

LOOP = "for (int i = 0; i < 8; i++)"
WORDS = "int32_t C[8], const int16_t A[8], const int16_t B[8]"
UNITS = {u.name: u for u in (
    unit("wrapping_local", WORDS, f"{LOOP} {{ int16_t t = 0; t += A[i] * B[i]; C[i] += t; }}"),
    unit("cast_product", WORDS, f"{LOOP} C[i] += (int16_t)(A[i] * B[i]);"),
    unit("wrapping_pairs", "int32_t C[8], const int8_t A[8][2], const int8_t B[8][2]",
         f"{LOOP} {{ int16_t t = 0; for (int k = 0; k < 2; k++) t += A[i][k] * B[i][k]; C[i] += t; }}"),
    unit("unsigned_half", "int32_t C[8], const int32_t A[8]", f"{LOOP} C[i] += A[i] / 2u;"),
    unit("signed_half", "int32_t C[8], const int32_t A[8]", f"{LOOP} C[i] += A[i] / 2;"),
    unit("low_half", "int64_t C[8], const int64_t A[8]", f"{LOOP} C[i] += A[i] & 0xFFFFFFFF;"),
    unit("short_sum", "int16_t C[8], const int16_t A[8]", f"{LOOP} C[i] += A[i];"),
    unit("sum_in_short", "int32_t C[8], const int32_t A[8]", f"{LOOP} C[i] = (int16_t)(C[i] + A[i]);"),
    unit("zero_fill", "int32_t C[8]", f"{LOOP} C[i] = (int32_t)((uint32_t)C[i] >> 1);"),
    unit("sign_fill", "int32_t C[8]", f"{LOOP} C[i] = C[i] >> 1;"),
    unit("distance", "int32_t C[8], const int8_t A[8], const int8_t B[8]",
         f"{LOOP} C[i] += A[i] > B[i] ? A[i] - B[i] : B[i] - A[i];"),
)}
ARRAYS = "int32_t C[19], int64_t L[19], int16_t S[19], int16_t A[19], int16_t B[19], int32_t W[19], int64_t X[19], " \
         "int8_t P[19][2], int8_t Q[19][2]"
EACH = "for (int i = 0; i < 19; i++) "
PAIRS = EACH + "for (int k = 0; k < 2; k++) "
MATCHED = {   # body, unit
    "wrapped product": (EACH + "C[i] += (int16_t)(A[i] * B[i]);", "wrapping_local"),
    "wrapped product, cast": (EACH + "C[i] += (int16_t)(B[i] * A[i]);", "cast_product"),
    "wrapped in a variable": (EACH + "{ int16_t t = A[i] * B[i]; C[i] += t; }", "cast_product"),
    "small pairs": (PAIRS + "C[i] += (P[i][k] & 63) * Q[i][k];", "wrapping_pairs"),
    "signed half": (EACH + "C[i] += W[i] / 2;", "signed_half"),
    "unsigned half": (EACH + "C[i] += (uint32_t)W[i] / 2;", "unsigned_half"),
    "low half": (EACH + "L[i] += (uint32_t)X[i];", "low_half"),
    "short sum": (EACH + "S[i] += A[i];", "short_sum"),
    "short sum over everything": (PAIRS + "S[i] += (int16_t)P[i][k];", "short_sum"),
    "shift by an unsigned number": (EACH + "W[i] >>= 1u;", "sign_fill"),
    "shift by a long number": (EACH + "W[i] >>= 1ul;", "sign_fill"),
    "sum in short": (EACH + "C[i] = (int16_t)(C[i] + W[i]);", "sum_in_short"),
    "distance": (PAIRS + "C[i] += P[i][k] > Q[i][k] ? P[i][k] - Q[i][k] : Q[i][k] - P[i][k];", "distance"),
}
REFUSED = {   # body, unit, words
    "whole product": (EACH + "C[i] += A[i] * B[i];", "wrapping_local", "in its own arithmetic"),
    "whole product, cast": (EACH + "C[i] += A[i] * B[i];", "cast_product", "in its own arithmetic"),
    "other wrap": (EACH + "C[i] += (int8_t)(A[i] * B[i]);", "cast_product", "in its own arithmetic"),
    "unsigned wrap": (EACH + "C[i] += (uint16_t)(A[i] * B[i]);", "cast_product", "in its own arithmetic"),
    "large pairs": (PAIRS + "C[i] += P[i][k] * Q[i][k];", "wrapping_pairs", "wraps the sum of 2 products to -32768"),
    "signed for unsigned half": (EACH + "C[i] += W[i] / 2;", "unsigned_half",
                                 "W[i] = -2147483648: 1073741823 against -1073741825"),
    "unsigned for signed half": (EACH + "C[i] += W[i] / 2u;", "signed_half",
                                 "W[i] = -2147483648: -1073741825 against 1073741823"),
    "all bits": (EACH + "L[i] += X[i];", "low_half", "X[i] = -9223372036854775808: -9223372036854775808 against 0"),
    "sign extended half": (EACH + "L[i] += (int32_t)X[i];", "low_half",
                           "compute L[i] + (X[i] & 0xFFFFFFFF), which is what low_half does"),
    "arithmetic shift by an unsigned number": (EACH + "W[i] >>= 1u;", "zero_fill", "in its own arithmetic"),
    "logical shift": (EACH + "W[i] = (uint32_t)W[i] >> 1;", "sign_fill", "in its own arithmetic"),
    "sum in int": (EACH + "C[i] += W[i];", "sum_in_short", "in its own arithmetic"),
    "wrapped distance": (PAIRS + "C[i] += (int8_t)(P[i][k] > Q[i][k] ? P[i][k] - Q[i][k] : Q[i][k] - P[i][k]);",
                         "distance", "P[i][k] = -128, Q[i][k] = 127: 2147483646 against"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: (ARRAYS, case[0]) for name, case in (*MATCHED.items(), *REFUSED.items())}
    return programs_of(texts, tmp_path_factory.mktemp("types"))


@pytest.mark.parametrize("name", MATCHED)
def test_the_same_types_match_and_compute_the_same(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][1]]), tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_other_types_are_refused(name: str, programs: dict[str, Scop]) -> None:
    _, by, words = REFUSED[name]
    found = matched(programs[name], UNITS[by])
    assert found.count == 0, str(found.matches[0])
    assert words in "\n".join(map(str, found.explanations))
