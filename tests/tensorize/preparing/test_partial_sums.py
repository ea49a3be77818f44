"""Two sums become one only where every addition belongs to the same total: the same values on every array."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.tensorize.preparing.partial_sums import without_partial_sums
from tests.tensorize.preparing.kept import program, rewritten, same_values

ARRAYS = "int32_t C[4], int8_t A[4][4], int16_t B[4]"
EACH = "for (int k = 0; k < 4; k++) "
BOTH = EACH + "{ s += A[i][k] * B[k]; t += A[k][i]; } "
ROWS = "for (int i = 0; i < 4; i++) "
JOINED = {
    "two": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = s + t; }",
    "the first one starts anywhere": ROWS + "{ int s = C[i], t = 0; " + BOTH + "C[i] = t + s; }",
    "one behind the other": ROWS + "{ int s = 0, t = 0; " + EACH + "s += A[i][k]; " + EACH +
    "t += B[k]; C[i] = s + t; }",
    "in a longer end": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = B[i] - 3 * (s + t); }",
    "among other terms": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = s + (B[i] + t); }",
    "of unsigned numbers": ROWS + "{ unsigned s = 0, t = 0; " + BOTH + "C[i] = s + t; }",
    "of long ones": ROWS + "{ long s = 1, t = 0; " + BOTH + "C[i] = s + t; }",
    "of the whole program": "int s = 0, t = 0; " + ROWS + BOTH + "C[0] = s + t;"}
APART = {
    "a difference": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = s - t; }",
    "a multiple": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = s + 2 * t; }",
    "each cut to a byte": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = (int8_t)s + (int8_t)t; }",
    "added in a wider type": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = ((long)s + t) >> 3; }",
    "both start at something": ROWS + "{ int s = 1, t = 1; " + BOTH + "C[i] = s + t; }",
    "a sum that subtracts": ROWS + "{ int s = 0, t = 0; " + EACH + "{ s -= A[i][k]; t -= B[k]; } C[i] = s + t; }",
    "read twice": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = (s + t) * t; }",
    "read on the way": ROWS + "{ int s = 0, t = 0; " + EACH + "{ s += A[i][k]; t += s; } C[i] = s + t; }",
    "read elsewhere": ROWS + "{ int s = 0, t = 0; " + BOTH + "B[i] = t; C[i] = s + t; }",
    "never cleared again": "int s = 0, t = 0; " + ROWS + "{ " + BOTH + "C[i] = s + t; }",
    "short ones, cut at every addition": ROWS + "{ short s = 0, t = 0; " + BOTH + "C[i] = s + t; }",
    "one goes on longer": ROWS + "{ int s = 0, t = 0; " + BOTH + "C[i] = s + t; t += B[i]; }"}


@pytest.mark.parametrize("name", JOINED)
def test_sums_that_are_added_up_become_one(name: str) -> None:
    before = program(ARRAYS, JOINED[name])
    after = rewritten(before, without_partial_sums)
    assert after is not None
    assert len(after.arrays) == len(before.arrays) - 1
    assert len(after.statements) == len(before.statements) - 1


@pytest.mark.parametrize("name", APART)
def test_sums_that_somebody_tells_apart_stay_two(name: str) -> None:
    assert rewritten(program(ARRAYS, APART[name]), without_partial_sums) is None


def test_sums_of_floats_are_joined_only_where_additions_may_change_places() -> None:
    scop = program("float C[4], float A[4][4], float B[4]", JOINED["two"].replace("int s", "float s"))
    dependences = analyse(scop)
    assert without_partial_sums(dependences) is None
    joined = without_partial_sums(dependences, reorder=True)
    assert joined is not None
    same_values(scop, joined.scop)   # whole numbers, whose sums are exact in any order
