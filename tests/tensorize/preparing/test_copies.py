"""Converted copies of arrays, seen through."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.scop.body import Select, statement_expressions, walk
from polysched.tensorize.preparing.copies import without_copies
from tests.tensorize.preparing.kept import program, rewritten

ARRAYS = "int32_t C[6][5], uint8_t A[6][7], int8_t B[7][5], int32_t O[6], int32_t X[8], float F[6], float G[7]"
PRODUCT = "for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) for (int k = 0; k < {}; k++) C[i][j] += {} * {};"
SEEN = {   # body, choices that are left in the reader
    "zeros behind the end": ("uint8_t T[6][8]; for (int i = 0; i < 6; i++) { for (int k = 0; k < 7; k++) "
                             "T[i][k] = A[i][k]; T[i][7] = 0; } " + PRODUCT.format(8, "T[i][k]", "B[k % 7][j]"), 1),
    "zeros first, then the copy": ("int T[8][7]; for (int i = 0; i < 8; i++) for (int k = 0; k < 7; k++) T[i][k] = 0; "
                                   "for (int i = 0; i < 6; i++) for (int k = 0; k < 7; k++) T[i + 1][k] = A[i][k]; "
                                   + PRODUCT.format(7, "T[i + 2][k]", "B[k][j]"), 1),
    "a private tile": ("for (int i = 0; i < 6; i++) for (int kk = 0; kk < 7; kk += 4) { int t[4]; "
                       "for (int r = 0; r < 4; r++) { t[r] = 0; if (kk + r < 7) t[r] = A[i][kk + r]; } "
                       "for (int j = 0; j < 5; j++) for (int r = 0; r < 4; r++) C[i][j] += t[r] * 3; }", 1),
    "a number around": ("int T[8][7]; for (int i = 0; i < 8; i++) for (int k = 0; k < 7; k++) T[i][k] = 9; "
                        "for (int i = 0; i < 6; i++) for (int k = 0; k < 7; k++) T[i + 1][k] = A[i][k]; "
                        + PRODUCT.format(7, "T[i + 2][k]", "B[k][j]"), 1),
    "carried on": ("int p = X[0]; for (int i = 0; i < 6; i++) { O[i] = X[i + 1] - p; p = X[i + 1]; }", 0),
}
LEFT = {
    "two numbers": "int T[8]; for (int i = 0; i < 6; i++) T[i] = X[i]; T[6] = 1; T[7] = 2; "
                   "for (int i = 0; i < 6; i++) for (int k = 0; k < 8; k++) O[i] += T[k];",
    "floats around": "float T[7]; for (int i = 0; i < 6; i++) T[i] = G[i]; T[6] = 0; "
                     "for (int i = 0; i < 6; i++) for (int k = 0; k < 7; k++) F[i] += T[k];",
    "carried on from elsewhere": "int p = O[0]; for (int i = 0; i < 6; i++) { O[i] = X[i + 1] - p; p = X[i + 1]; }",
    "carried on in place": "int p = X[0]; for (int i = 0; i < 6; i++) { int q = X[i + 1]; X[i] = q - p; p = q; }",
    "changed in place": "int T[8]; for (int i = 0; i < 8; i++) T[i] = X[i]; for (int i = 0; i < 8; i++) T[i] *= T[i]; "
                        "for (int i = 0; i < 6; i++) for (int k = 0; k < 8; k++) O[i] += T[k];",
    "a loop under a condition": "int T[8]; for (int i = 0; i < 8; i++) T[i] = X[i]; "
                                "for (int i = 0; i < 6; i++) if (A[i][0]) while (O[i] < 100) O[i] += T[i];",
}


@pytest.mark.parametrize("name", SEEN)
def test_a_copy_in_pieces_is_seen_through(name: str) -> None:
    body, choices = SEEN[name]
    after = rewritten(program(ARRAYS, body), without_copies)
    assert after is not None
    reader = after.statements[-1]
    assert {a.array for a in reader.reads} & {"A", "X"}
    assert sum(isinstance(e, Select) for top in statement_expressions(reader.body) for e in walk(top)) == choices


@pytest.mark.parametrize("name", LEFT)
def test_what_is_no_copy_of_one_function_stays(name: str) -> None:
    scop = program(ARRAYS, LEFT[name])
    after = rewritten(scop, without_copies)
    assert after is None


def test_fewer_subscripts_than_dimensions_are_no_function_that_a_relation_tells() -> None:
    scop = from_c_text("void f(int n, int m, const int *A, int *O) {\n#pragma scop\nfor (int i = 0; i < n; i++) {\n"
                       "int p = A[i * m];\nfor (int j = 0; j < m - 1; j++) {\n"
                       "O[i * m + j] = p + A[i * m + j + 1];\np = A[i * m + j + 1]; } }\n#pragma endscop\n}\n")
    assert len(scop.array("A").extents) == 2
    assert without_copies(analyse(scop, value_based=True)) is None


def test_the_old_value_of_a_compound_assignment_is_no_copy_to_see_through() -> None:
    scop = from_c_text("void f(short C[8], unsigned A[8], unsigned B[8]) {\n#pragma scop\n"
                       "for (int i = 0; i < 8; i++) {\nC[i] = A[i];\nC[i] += B[i];\n}\n#pragma endscop\n}\n")
    assert without_copies(analyse(scop, value_based=True)) is None
