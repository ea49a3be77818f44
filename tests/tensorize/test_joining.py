"""Statements around a sum are joined to its nest where they touch each sum once, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.tensorize import match
from polysched.tensorize.joining import with_joined
from polysched.tensorize.matching.any_size import for_all_sizes
from polysched.tensorize.program import TensorizedProgram, tensorize
from tests.tensorize.emission.native import FOUR

TEXT = """void f(int m, int n, int q, short O[m][n], int A[m][q], int B[q][n], int D[n]) {
#pragma scop
for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
  int t = D[j];
  for (int k = 0; k < q; k++) t += A[i][k] * B[k][j];
  O[i][j] = t > 0 ? t : 0;
}
#pragma endscop
}
"""


def program_of(text: str) -> TensorizedProgram:
    dependences = analysed(from_c_text(text), for_instructions=True).dependences
    found = match(dependences.scop, FOUR, dependences=dependences).matches[0]
    made = tensorize(found, dependences=dependences)
    return replace(made, general=for_all_sizes(found, dependences, ("m", "n", "q"), gone=made.gone))


def test_a_beginning_and_an_end_are_joined() -> None:
    made = with_joined(program_of(TEXT))
    assert made.joined is not None
    assert made.joined.first is not None
    assert made.joined.arrays == ("O", "D")
    assert made.joined.last.written == ("O",)
    assert made.parts == ()


def test_sums_from_zero_have_no_beginning() -> None:
    made = with_joined(program_of(TEXT.replace("int t = D[j]", "int t = 0")))
    assert made.joined is not None
    assert made.joined.first is None
    assert made.joined.arrays == ("O",)


def test_the_array_of_the_result_may_hold_the_sums() -> None:
    made = with_joined(program_of(TEXT.replace("short O", "int O")))
    assert made.joined is not None
    assert made.joined.last.sums == "O"
    assert made.joined.last.written == ("O",)


def test_iterators_are_told_by_their_places_in_the_sums() -> None:
    text = TEXT.replace("O[i][j]", "O[j][i]").replace("short O[m][n]", "short O[n][m]")
    made = with_joined(program_of(text))
    assert made.joined is not None
    assert made.joined.last.loops == ("i", "j")


@pytest.mark.parametrize(("old", "new"), [
    ("O[i][j] = t > 0 ? t : 0;", "O[i][0] = t > 0 ? t : 0;"),          # written more than once
    ("O[i][j] = t > 0 ? t : 0;", "if (j > 0) O[i][j] = t;"),           # not for every sum
    ("O[i][j] = t > 0 ? t : 0;", "O[i][j] = t + O[i][j];"),            # reads what it writes
    ("O[i][j] = t > 0 ? t : 0;", "O[i][j] += t;"),
    ("int t = D[j];", "int t = O[i][j];"),                             # reads what the end writes
    ("int t = D[j];", "int t = D[j]; D[j] = 0;"),                      # two statements ahead
    ("O[i][j] = t > 0 ? t : 0;", "O[i][j] = abs(t);"),                 # calls a function
])
def test_others_are_not(old: str, new: str) -> None:
    assert old in TEXT
    made = program_of(TEXT.replace(old, new))
    assert with_joined(made) is made


def test_a_result_that_is_needed_stays_in_memory() -> None:
    text = TEXT.replace("int t = D[j];", "C[i][j] = D[j];").replace("t += ", "C[i][j] += ").replace(
        "t > 0 ? t : 0", "C[i][j]").replace("int D[n]", "int D[n], int C[m][n]")
    made = program_of(text)
    assert with_joined(made) is made
