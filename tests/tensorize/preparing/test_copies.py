"""Converted copies of arrays, seen through."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.tensorize.preparing.copies import without_copies


def test_the_old_value_of_a_compound_assignment_is_no_copy_to_see_through() -> None:
    scop = from_c_text("void f(short C[8], unsigned A[8], unsigned B[8]) {\n#pragma scop\n"
                       "for (int i = 0; i < 8; i++) {\nC[i] = A[i];\nC[i] += B[i];\n}\n#pragma endscop\n}\n")
    assert without_copies(analyse(scop, value_based=True)) is None
