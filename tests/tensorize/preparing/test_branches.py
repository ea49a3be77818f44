"""Branches on data become choices where nobody sees that the element is always written; the same values either way."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.scop.body import Assign, Select
from polysched.scop.scop import AccessKind
from polysched.tensorize.preparing.branches import with_choices_for_branches
from tests.tensorize import described
from tests.tensorize.preparing.kept import program, rewritten

ARRAYS = "int32_t P[5], int32_t Q[5], int32_t A[5], int8_t B[5], float F[5]"
EACH = "for (int i = 0; i < 4; i++) "
CHOSEN = {   # body, statements behind it
    "both ways": ("if (A[i] < B[i]) { P[i] = A[i]; Q[i] = B[i]; } else { P[i] = B[i]; Q[i] = A[i]; }", 2),
    "another order": ("if (A[i] < B[i]) { P[i] = A[i]; Q[i] = B[i]; } else { Q[i] = A[i]; P[i] = B[i]; }", 2),
    "sometimes": ("P[i] = F[i]; if (A[i] < B[i]) P[i] = A[i];", 1),
    "otherwise": ("P[i] = 1; Q[i + 1] = 2; if (A[i] < B[i]) { P[i] = A[i]; } else Q[i + 1] = 7;", 2),
    "its own": ("int32_t X[5]; if (A[i] < B[i]) X[i] = A[i];", 1),
    "the largest and its place": ("P[0] = 1; Q[0] = 3; if (P[0] < A[i]) { P[0] = A[i]; Q[0] = i; }", 2),
    "the condition reads what is written": ("P[i] += 1; if (P[i] < A[i]) { P[i] = B[i]; Q[i] = 3; } else Q[i] = 5;", 2),
    "three in a row": ("P[i] = 1; Q[i] = 2; if (P[i] < A[i]) { F[i] = P[i + 1]; P[i] = B[i]; Q[i] = A[i]; } "
                       "else F[i] = Q[i];", 3),
    "nested": ("P[i] = 5; F[i] = 6; if (A[i] < B[i]) { if (A[i] > 0) P[i] = A[i]; else F[i] = 1; } "
               "else { P[i] = 3; F[i] = B[i]; }", 2),
    "sums": ("if (A[i] < B[i]) { P[i] += A[i]; Q[i] -= 2; } else { Q[i] = B[i]; P[i] = 3; }", 2),
    "a swap": ("P[i] = A[i]; Q[i] = B[i]; if (P[i] < Q[i]) { int32_t t = P[i]; P[i] = Q[i]; Q[i] = t; }", 2),
    "a swap by differences": ("P[i] = A[i]; Q[i] = B[i]; "
                              "if (P[i] < Q[i]) { P[i] ^= Q[i]; Q[i] ^= P[i]; P[i] ^= Q[i]; }", 2),
    "a part reads what another writes": ("P[i] = 1; Q[i] = 2; if (A[i] < B[i]) { P[i] = A[i]; Q[i] = P[i] + 1; }", 2),
    "each reads the other": ("P[i] = 5; Q[i] = 6; if (P[i] < A[i]) { P[i] = Q[i]; Q[i] = 3; } else Q[i] = 5;", 2),
    "neighbours": ("P[i] = A[i]; P[i + 1] = B[i]; "
                   "if (P[i] < P[i + 1]) { int32_t t = P[i]; P[i] = P[i + 1]; P[i + 1] = t; }", 2),
    "elements that data choose": ("P[i] = 1; Q[i] = 2; "
                                  "if (P[i] < B[i]) { P[i] = Q[i] + A[A[B[i] & 3] & 3]; Q[i] = 3; }", 2),
    "an element ahead of what chooses it": ("P[i] = 1; Q[i] = 2; if (A[i] < B[i]) { Q[i] = A[A[P[i] & 3] & 3]; "
                                            "P[i] = 3; } else { P[i] = 7; Q[i] = 5; }", 2),
    "old values": ("if (A[i] < P[i]) P[i] = P[i + 1]; P[i] += 2;", 1),
}
KEPT = {
    "a part reads what another writes": "if (A[i] < B[i]) { P[i] = A[i]; Q[i] = P[i]; }",
    "the condition reads both": "if (P[i] < Q[i]) { P[i] = 2; Q[i] = P[i + 1]; }",
    "each reads the other": "if (P[i] < A[i]) { P[i] = Q[i]; Q[i] = 3; } else Q[i] = 5;",
    "a swap": "if (P[i] < Q[i]) { F[i] = P[i]; P[i] = Q[i]; Q[i] = F[i]; }",
    "a condition behind a write": "Q[i] = 1; if (A[i] < P[i]) { P[i] = A[i]; if (P[i] > 3) Q[i] = B[i]; }",
    "a value behind a write": "Q[i] = 1; if (A[i] < P[i]) { P[i] = A[i]; Q[i] = P[i]; }",
    "written twice": "if (A[i] < B[i]) { P[i] = A[i]; P[i] = P[i] + 1; }",
    "an element that a written one chooses": "P[i] = 1; Q[i] = 2; if (A[i] < B[i]) { P[i] = 3; Q[i] = A[P[i] & 3]; }",
    "a value that doubles": "P[i] = 1; if (A[i] < B[i]) { " + "P[i] ^= P[i] << 1; " * 24 + "}",
    "elements that may be one": "P[i] = 1; Q[i] = 2; if (A[i] < B[i]) { P[i] = A[i]; Q[i] = P[2]; }",
    "two elements": "if (A[i] < B[i]) P[i] = A[i]; else P[i + 1] = B[i];",
    "a sum under a condition": "if (A[i] < B[i]) P[i] += A[i];",
    "an element that is nowhere else": "if (A[i] < B[i]) P[i] = A[i];",
    "an element that is elsewhere under a condition": "if (A[i] < B[i]) P[i] = A[i]; if (B[i] > 3) Q[i] = P[i];",
    "an element that is only read elsewhere": "F[i] = P[i]; if (A[i] < B[i]) P[i] = A[i];",
    "an element that the condition reads": "if (P[i] < A[i]) P[i] = A[i];",
    "another element elsewhere": "if (A[i] < B[i]) P[i] = A[i]; Q[i] = P[i + 1];",
    "a swap of what it may leave alone": "if (P[i] < Q[i]) { int32_t t = P[i]; P[i] = Q[i]; Q[i] = t; }",
    "no branch": "P[i] = A[i] < B[i] ? A[i] : B[i];",
}


@pytest.mark.parametrize("name", CHOSEN)
def test_every_array_is_assigned_by_a_statement_of_its_own(name: str) -> None:
    body, count = CHOSEN[name]
    after = rewritten(program(ARRAYS, f"{EACH}{{ {body} }}"), with_choices_for_branches)
    assert after is not None
    assert all([a.kind for a in s.writes] == [AccessKind.MUST_WRITE] for s in after.statements)
    items = [item for s in after.statements for item in s.body]
    assert all(isinstance(item, Assign) for item in items)
    assert sum(isinstance(item.value, Select) for item in items if isinstance(item, Assign)) == count


@pytest.mark.parametrize("name", KEPT)
def test_other_branches_stay(name: str) -> None:
    assert rewritten(program(ARRAYS, f"{EACH}{{ {KEPT[name]} }}"), with_choices_for_branches) is None


def test_an_element_that_may_not_exist_is_not_written() -> None:
    body = EACH + "{ if (A[i] < 3) P[i + 1] = A[i]; P[0] = 0; }"
    assert rewritten(program("int32_t *P, int32_t A[5]", body), with_choices_for_branches) is None


def test_a_maximum_and_its_place_are_two_results_of_one_instruction(tmp_path: Path) -> None:
    largest = described.unit(
        "largest", "int32_t M[8], int32_t P[8], const int32_t A[8], const int32_t K[8]",
        "for (int i = 0; i < 8; i++) { P[i] = A[i] > M[i] ? K[i] : P[i]; M[i] = A[i] > M[i] ? A[i] : M[i]; }")
    body = ("for (int i = 0; i < 19; i++) { p[i] = 0; m[i] = -7; } "
            "for (int r = 0; r < 3; r++) for (int i = 0; i < 19; i++) "
            "if (m[i] < a[r][i]) { m[i] = a[r][i]; p[i] = k[i]; }")
    scop = described.program("int32_t m[19], int32_t p[19], int32_t a[3][19], int32_t k[19]", body)
    assert described.executes(scop, described.matched(scop, largest), tmp_path)


def test_a_swap_by_a_branch_is_a_compare_exchange(tmp_path: Path) -> None:
    swap = "if ({0} > {1}) {{ int32_t t = {0}; {0} = {1}; {1} = t; }}"
    ordered = described.unit("ordered", "int32_t P[8], int32_t Q[8]",
                             f"for (int i = 0; i < 8; i++) {swap.format('P[i]', 'Q[i]')}")
    body = f"for (int i = 0; i < 19; i++) {{ int a = p[i], b = q[i]; {swap.format('a', 'b')} p[i] = a; q[i] = b; }}"
    scop = described.program("int32_t p[19], int32_t q[19]", body)
    assert described.executes(scop, described.matched(scop, ordered), tmp_path) == 1
    alone = described.program("int32_t p[19], int32_t q[19]",
                              f"for (int i = 0; i < 19; i++) {swap.format('p[i]', 'q[i]')}")
    words = "\n".join(map(str, described.matched(alone, ordered).explanations))
    assert "nothing else writes p, which may be read-only" in words
