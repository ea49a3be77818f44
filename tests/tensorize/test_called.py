"""A program around calls of a function: its parts, what they share with the calls, and why there are none."""

from __future__ import annotations

import pytest

from polysched.scop.scop import Storage
from polysched.tensorize.called import CallDecision
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from tests.tensorize.functions.replaced import decided, region

SUM = LibraryFunction(name="my_sum", variants=(Variant(
    "void my_sum(int n, float *y, const float *x) { for (int i = 0; i < n; i++) y[i] = y[i] + x[i]; }"),))
HEAD = "float A[8], float B[8], float C[8], float D[8], float M[4][8]"
LOOP = "for (int i = 0; i < 8; i++) "


def decision(body: str) -> CallDecision:
    return decided(region(HEAD, body), SUM)


@pytest.mark.parametrize(("body", "parts"), [
    (LOOP + "C[i] = C[i] + A[i];", 0), (LOOP + "C[i] = C[i] + A[i]; " + LOOP + "D[i] = C[i] * 3;", 1),
    (LOOP + "D[i] = B[i] * 2; " + LOOP + "C[i] = C[i] + A[i]; " + LOOP + "B[i] = C[i] * D[i];", 2)])
def test_what_the_calls_do_not_compute_is_left_for_ordinary_code(body: str, parts: int) -> None:
    found = decision(body)
    assert found.program is not None
    assert len(found.program.parts) == parts
    own = {s.name for p in found.program.parts for s in p.statements}
    assert own.isdisjoint(found.program.match.statements)
    assert found.program.shared == ()
    assert found.reasons == (f"{found.program.match.statements[0]}: my_sum",)


def test_calls_inside_loops_are_told_in_words() -> None:
    found = decision("for (int r = 0; r < 4; r++) " + LOOP + "M[r][i] = M[r][i] + A[i];")
    assert found.program is not None
    assert found.reasons == ("S0: my_sum, one call per iteration of 1 loop",)


def test_temporaries_that_parts_share_stand_outside() -> None:
    body = ("float t[8]; " + LOOP + "t[i] = 0; for (int k = 0; k < 4; k++) " + LOOP + "t[i] += M[k][i] * B[i]; "
            + LOOP + "C[i] = C[i] + t[i]; " + LOOP + "D[i] = t[i] * 3;")
    found = decision(body).program
    assert found is not None
    assert found.shared == ("t",)
    for p in found.parts:
        (array,) = [a for a in p.arrays if a.name == "t"]
        assert array.storage is Storage.OUTER


def test_statements_that_cannot_leave_their_nest_are_named_with_the_reason() -> None:
    found = decision(LOOP + "{ C[i] = C[i] + A[i]; A[7 - i] = C[i] * 3; }")
    assert found.program is None
    (reason,) = found.reasons
    assert "my_sum computes them, but they cannot be taken out of their nest: " in reason


def test_without_statements_of_the_function_there_is_a_reason() -> None:
    found = decision(LOOP + "C[i] = A[i] * B[i];")
    assert found.program is None
    assert len(found.reasons) == 1
