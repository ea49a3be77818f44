"""Instructions that read a table at computed subscripts; every match executed."""

import re
from pathlib import Path

import pytest

from polysched.scop.scop import Scop
from tests.tensorize.described import executes, matched, program, programs_of, unit

LOOP = "for (int i = 0; i < 8; i++)"
UNITS = {u.name: u for u in (
    unit("lookup", "uint8_t O[8], const uint8_t T[16], const uint8_t I[8]", f"{LOOP} O[i] = T[I[i] & 15];"),
    unit("shuffle", "uint8_t O[8], const uint8_t T[16], const uint8_t I[8]",
         f"{LOOP} O[i] = I[i] > 127 ? 0 : T[I[i] & 15];"),
    unit("by_halves", "uint8_t O[2][4], const uint8_t T[2][16], const uint8_t I[2][4]",
         "for (int h = 0; h < 2; h++) for (int i = 0; i < 4; i++) O[h][i] = T[h][I[h][i] & 15];"),
    unit("added", "int32_t C[8], const int16_t T[8], const int8_t I[8]", f"{LOOP} C[i] += T[I[i] & 7];"),
    unit("two_tables", "int32_t O[8], const int16_t S[4], const int16_t T[4], const uint8_t I[8]",
         f"{LOOP} O[i] = S[I[i] & 3] - T[I[i] >> 6];"),
    unit("grid", "int16_t O[8], const int16_t T[4][2], const uint8_t I[8], const uint8_t J[8]",
         f"{LOOP} O[i] = T[I[i] & 3][J[i] & 1];"),
)}
ARRAYS = ("uint8_t A[19], uint8_t B[19], uint8_t X[16], uint8_t Y[5][16], uint8_t Z[10], uint8_t R[5][19], "
          "uint8_t Q[5][19], int32_t P[19], int16_t H[8], int8_t N[19], int16_t S[4], int16_t T[4], int16_t G[4][2], "
          "int16_t K[19], int16_t W[5][4][2], uint8_t L[64], uint8_t E[32]")
EACH = "for (int i = 0; i < 19; i++) "
MATCHED = {   # body, unit
    "lookup": (EACH + "A[i] = X[B[i] & 15];", "lookup"),
    "remainder": (EACH + "A[i] = X[B[i] % 16];", "lookup"),
    "in place": (EACH + "A[i] = X[15 & A[i]];", "lookup"),
    "in place, whole tiles": ("for (int i = 0; i < 32; i++) E[i] = X[E[i] & 15];", "lookup"),
    "upper half": (EACH + "A[i] = X[B[i] >> 4];", "lookup"),
    "a smaller table": (EACH + "A[i] = Z[B[i] & 7];", "lookup"),
    "a row": (EACH + "A[i] = Y[3][B[i] & 15];", "lookup"),
    "without zeros": (EACH + "A[i] = X[B[i] & 15];", "shuffle"),
    "with zeros": (EACH + "A[i] = B[i] & 128 ? 0 : X[B[i] & 15];", "shuffle"),
    "halves": (EACH + "A[i] = X[B[i] & 15];", "by_halves"),
    "added": (EACH + "P[i] += H[N[i] & 7];", "added"),
    "two tables": (EACH + "P[i] = S[B[i] % 4] - T[B[i] / 64];", "two_tables"),
    "two tables, exchanged": (EACH + "P[i] = T[B[i] % 4] - S[B[i] / 64];", "two_tables"),
    "grid": (EACH + "K[i] = G[A[i] & 3][B[i] & 1];", "grid"),
}
ROWS = "for (int p = 0; p < 5; p++) " + EACH + "R[p][i] = Y[p][Q[p][i] & 15];"
REFUSED = {   # body, unit, words
    "a larger table": (EACH + "A[i] = L[B[i] & 63];", "lookup", "no match"),
    "zeros": (EACH + "A[i] = B[i] & 64 ? 0 : X[B[i] & 15];", "shuffle", "no match"),
    "another type": (EACH + "A[i] = S[B[i] & 3];", "lookup", "no match"),
    "another operand": (EACH + "P[i] = S[B[i] & 3] - T[A[i] >> 6];", "two_tables", "no match"),
    "another difference": (EACH + "P[i] = S[B[i] >> 6] - S[B[i] & 3];", "two_tables", "no match"),
    "one bit less": (EACH + "P[i] += H[N[i] & 6] + H[N[i] & 1];", "added", "no match"),
    "two indices": (EACH + "A[i] = B[i] > 127 ? X[B[i] & 15] : X[R[2][i] & 15];", "lookup", "no match"),
    "a difference of entries": (EACH + "P[i] += H[N[i] & 7] + H[B[i] & 7] - H[N[i] & 7];", "added", "no match"),
    "its own result": ("for (int i = 0; i < 16; i++) X[i] = X[B[i] & 15];", "lookup",
                       "which element X[B[i] & 15] is depends on data"),
    "again": ("for (int p = 0; p < 5; p++) " + EACH + "A[i] = X[Q[p][i] & 15];", "lookup",
              "again in every iteration of p"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = {name: (ARRAYS, case[0]) for name, case in (*MATCHED.items(), *REFUSED.items(), ("rows", (ROWS,)))}
    return programs_of(texts, tmp_path_factory.mktemp("tables"))


@pytest.mark.parametrize("name", MATCHED)
def test_every_match_computes_what_the_program_does(name: str, programs: dict[str, Scop], tmp_path: Path) -> None:
    executes(programs[name], matched(programs[name], UNITS[MATCHED[name][1]]), tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_other_programs_are_refused(name: str, programs: dict[str, Scop]) -> None:
    _, by, words = REFUSED[name]
    found = matched(programs[name], UNITS[by])
    assert found.count == 0, str(found.matches[0])
    assert words in "\n".join(map(str, found.explanations))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", REFUSED)
def test_reasons_are_in_words_of_the_program(name: str, unit: str, programs: dict[str, Scop]) -> None:
    """Neither values of Python nor names of references."""
    told = "\n".join(map(str, matched(programs[name], UNITS[unit]).explanations))
    assert not re.search(r"DType|Call\(|IteratorRef|Literal\(|S0_r\d|\[\]", told), told


def test_a_reason_shows_tables_as_both_read_them(programs: dict[str, Scop]) -> None:
    told = "\n".join(map(str, matched(programs["two indices"], UNITS["by_halves"]).explanations))
    assert "(B[i] > 127 ? X[B[i] & 15] : X[R[2][i] & 15]) against O[h][i] = T[h][I[h][i] & 15]" in told


def test_a_loop_that_changes_the_table_stays_outside(programs: dict[str, Scop]) -> None:
    found = matched(programs["rows"], UNITS["lookup"])
    assert [m.fragment.kept for m in found.matches] == [("p",)]
    assert "T = Y; in every iteration of p" in str(found.matches[0])


@pytest.mark.parametrize(("body", "words"), [
    (EACH + "A[i] = B[i] & 15;", "reads no array at subscripts that data choose, and lookup reads T so"),
    (EACH + "A[i] = X[B[i] & 15] ^ L[B[i] & 63];", "reads 2 arrays at subscripts that data choose"),
    (EACH + "K[i] = H[B[i] & 7];", "table T of lookup holds uint8, and H[B[i] & 7] holds int16"),
    (EACH + "A[i] = Y[B[i] & 3][B[i] & 15];", "data choose 1 subscripts of table T, and 2 of Y[B[i] & 3][B[i] & 15]")])
def test_other_tables_are_told_as_such(body: str, words: str) -> None:
    assert words in str(matched(program(ARRAYS, body), UNITS["lookup"]).explanations[0])
