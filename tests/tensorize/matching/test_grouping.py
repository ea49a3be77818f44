"""Statements that become one: which groups there are, and which move would change the order of conflicting accesses."""

import pytest

from polysched.pipeline import analysed
from polysched.tensorize.matching.grouping import Together, groups_of_statements
from tests.tensorize.described import program, unit

SORTED = unit("sorted", "uint8_t L[8], uint8_t H[8], const uint8_t A[8], const uint8_t B[8]",
              "for (int i = 0; i < 8; i++) { L[i] = A[i] < B[i] ? A[i] : B[i]; H[i] = A[i] < B[i] ? B[i] : A[i]; }")
ARRAYS = "uint8_t A[19], uint8_t B[19], uint8_t L[19], uint8_t H[19], int32_t W[19]"
EACH = "for (int i = 0; i < 19; i++) "


@pytest.mark.parametrize(("body", "groups"), [
    (EACH + "{ L[i] = A[i]; H[i] = B[i]; }", {("S0", "S1")}),
    (EACH + "L[i] = A[i];" + EACH + "H[i] = B[i];", {("S0", "S1")}),
    (EACH + "L[i] = A[i];" + EACH + "W[i] = 3;" + EACH + "H[i] = B[i];", {("S0", "S2")}),
    (EACH + "L[i] = A[i];" + EACH + "A[i] = 3;", {("S0", "S1")}),
    (EACH + "L[i] = A[18 - i];" + EACH + "A[i] = 3;", set()),
    (EACH + "L[i] = A[i];" + EACH + "A[i] = 3;" + EACH + "H[i] = A[i];", {("S0", "S1"), ("S1", "S2")}),
    (EACH + "L[i] = A[i];" + "for (int i = 0; i < 18; i++) H[i] = B[i];", set()),
    (EACH + "L[i] = A[i];" + EACH + "W[i] = 3;", set()),
    (EACH + "{ uint8_t a = A[i], b = B[i]; A[i] = b; B[i] = a; }", {("S0", "S2", "S3")}),
])
def test_groups_have_the_same_loops_and_keep_their_order(body: str, groups: set[tuple[str, ...]]) -> None:
    scop = analysed(program(ARRAYS, body), for_instructions=True).dependences.scop
    found = groups_of_statements(scop, SORTED, sizes={}, kept=0)
    together = [g for g in found if isinstance(g, Together)]
    assert {g.statements for g in together} == groups
    assert len(together) == 2 * len(groups)   # both orders of the results


def test_a_group_that_would_reorder_says_so() -> None:
    scop = program(ARRAYS, EACH + "L[i] = A[i];" + EACH + "L[18 - i] = B[i];")
    (reason,) = groups_of_statements(scop, SORTED, sizes={}, kept=0)
    assert reason == ("S0 and S1 cannot run one iteration after the other: conflicting accesses would change their "
                      "order")
