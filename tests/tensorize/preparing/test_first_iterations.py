"""Sums that start in their own first iteration: taken apart where nobody sees it, and the same values."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.tensorize.preparing.first_iterations import with_starts_apart
from tests.tensorize.preparing.kept import program, rewritten

LOOPS = "for (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++) "
ARRAYS = "int C[4], int B[4], int A[4][4]"
APART = {
    "zero": ("C[i] = (k == 0 ? 0 : C[i]) + A[i][k];", "k = 0"),
    "the other way round": ("C[i] = A[i][k] + (k > 0 ? C[i] : B[i]);", "k <= 0"),
    "another element of the same array": ("C[i] = (k == 0 ? C[k] : C[i]) + B[k];", "k = 0"),
    "another element that is never the one": ("C[i] = (k == 0 ? 5 : C[i]) + C[3 - i];", "k = 0"),
    "in a loop that runs down": ("C[i] = (k != 3 ? C[i] : 7) * 3 + B[k];", "k = 3"),
    "by both iterators": ("C[i] = (k == i ? B[0] : C[i]) + A[k][i];", "k = i"),
    "nothing started": ("C[i] = (k < 0 ? 1 : C[i]) + B[k];", "1 = 0"),
}
WHOLE = {
    "the element by another name": "C[i] = (k == 0 ? 5 : C[i]) + C[k];",
    "a subscript that is the element": "C[i] = (k == 0 ? B[i] : C[i]) + B[C[k] & 3];",
    "somewhere in the array": "C[i] = (k == 0 ? 1 : C[i]) + C[B[k] & 3];",
    "the old value twice": "C[i] = (k == 0 ? 5 : C[i]) + C[i];",
    "the old value on both sides": "C[i] = (k == 0 ? C[i] + 1 : C[i]) + A[i][k];",
    "a condition on data": "C[i] = (B[k] == 0 ? 5 : C[i]) + A[i][k];",
    "a start of another type": "C[i] = (k == 0 ? 5L : C[i]) + A[i][k];",
    "two starts": "C[i] = (k == 0 ? 5 : C[i]) + (k == 1 ? 6 : C[i]);",
    "no choice": "C[i] = C[i] + A[i][k];",
}


@pytest.mark.parametrize("name", APART)
def test_the_start_becomes_a_statement_ahead_of_its_instance(name: str) -> None:
    body, where = APART[name]
    scop = program(ARRAYS, LOOPS + body)
    after = rewritten(scop, with_starts_apart)
    assert after is not None
    first, rest = after.statements
    wanted = isl.Set(f"{{ S0_first[i, k] : 0 <= i < 4 and 0 <= k < 4 and {where} }}")
    assert first.domain.is_equal(wanted)
    assert rest.domain.is_equal(scop.statements[0].domain)


@pytest.mark.parametrize("name", WHOLE)
def test_a_start_that_somebody_else_sees_stays(name: str) -> None:
    assert rewritten(program(ARRAYS, LOOPS + WHOLE[name]), with_starts_apart) is None


def test_the_start_stays_between_the_statements_around_it() -> None:
    body = ("for (int i = 0; i < 4; i++) { B[i] += C[i]; for (int k = 0; k < 4; k++) "
            "C[i] = (k == 0 ? B[i] : C[i]) + A[i][k]; B[i] += C[i]; }")
    after = rewritten(program(ARRAYS, body), with_starts_apart)
    assert after is not None
    assert [s.name for s in after.statements] == ["S0", "S1_first", "S1", "S2"]


def test_floats_keep_every_bit_and_names_that_are_taken_are_left() -> None:
    body = LOOPS + "C[i] = (k == 0 ? -0.0f : C[i]) + A[i][k];"
    after = rewritten(program("float C[4], float A[4][4]", body), with_starts_apart)
    assert after is not None
    assert len({a.reference for s in after.statements for a in s.accesses}) == 4
