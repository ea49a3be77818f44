"""Sums written out, rolled up again only where all parts compute the same."""

from __future__ import annotations

import re

import pytest

from polysched.dependence import analyse
from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize.preparing.rerolling import rerolled
from tests.tensorize.preparing.kept import program


def rolled(sum_of_two: str) -> Scop | None:
    text = ("void f(int C[8], int A[8][9], unsigned B[8]) {\n#pragma scop\nfor (int i = 0; i < 8; i++)\n"
            f"for (int k = 0; k < 8; k += 2)\nC[i] += {sum_of_two};\n#pragma endscop\n}}\n")
    after = rerolled(analyse(from_c_text(text)))
    return None if after is None else after.scop


def test_two_products_become_one_loop() -> None:
    scop = rolled("3 * A[i][k] + 3 * A[i][k + 1]")
    assert scop is not None
    assert len(scop.statements) == 1
    assert str(scop.statements[0].domain) == "{ S0[i, k] : 0 <= i <= 7 and 0 <= k <= 7 }"


@pytest.mark.parametrize("other", ["2 * A[i][k] + 3 * A[i][k + 1]", "(unsigned char)A[i][k] + A[i][k + 1]",
                                   "A[i][k] + A[i][k + 1] * A[i][k + 1]", "A[i][k] + B[i]"])
def test_parts_that_compute_different_things_stay(other: str) -> None:
    assert rolled(other) is None


def test_a_result_at_a_quotient_stays() -> None:
    text = ("void f(int n, int O[n], short A[2 * n], short B[2 * n]) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
            "O[i / 2] += A[2 * i] * B[2 * i] + A[2 * i + 1] * B[2 * i + 1];\n#pragma endscop\n}\n")
    assert rerolled(analyse(from_c_text(text))) is None


@pytest.mark.parametrize("subscript", ["k - 2", "-k + 2", "k / 2 - 1", "k % 2", "k >> 2", "(unsigned)k - 2"])
def test_statements_whose_subscripts_count_otherwise_stay(subscript: str) -> None:
    """Of one iteration each: `A[k - 2]` and `A[k]` are the same element, and yet no text names it for both."""
    text = ("void f(unsigned C[8], unsigned char A[1][8]) {\n#pragma scop\nfor (int i = 0; i < 8; i += 2) {\n"
            f"for (int k = 2; k < 3; k++)\nC[i] += A[{subscript}][i];\nfor (int k = 0; k < 1; k++)\n"
            "C[i + 1] += A[k][i + 1];\n}\n#pragma endscop\n}\n")
    assert rerolled(analyse(from_c_text(text))) is None
    alike = text.replace("int k = 2; k < 3", "int k = 0; k < 1").replace(f"A[{subscript}]", "A[k]")
    assert rerolled(analyse(from_c_text(alike))) is not None


def test_loops_forget_the_statements_that_are_gone() -> None:
    """What comes later asks which statements stand in a loop."""
    body = ("for (int i = 0; i < n; i++) for (int k = 0; k < 8; k += 4) { C[i] = ~A[i][k]; C[i] -= ~A[i][k + 1]; "
            "C[i] -= ~A[i][k + 2]; C[i] -= ~A[i][k + 3]; }")
    scop = analysed(program("int n, uint32_t C[n], int32_t A[n][8]", body), for_instructions=True).dependences.scop
    assert {s.name for s in scop.statements} == {"S0", "S1"}
    assert not {"S2", "S3"} & set(re.findall(r"S\d", str(scop.schedule)))
