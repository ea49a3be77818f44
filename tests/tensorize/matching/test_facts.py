"""What separates a program from an instruction, in sentences with the rewrite that would remove it."""

from __future__ import annotations

import pytest

from polysched.tensorize import find_intrinsic
from polysched.tensorize.matching.facts import Fact, Numerics, numeric_facts
from tests.tensorize.described import matched, program, unit

DOT = unit("dot", "float C[1], const float A[4], const float B[4]",
           "for (int k = 0; k < 4; k++) C[0] += A[k] * B[k];")
APART = unit("apart", "float C[1], const float A[4], const float B[4]",
             "float t = 0; for (int k = 0; k < 4; k++) t += A[k] * B[k]; C[0] += t;")
WHOLE = unit("whole", "int32_t C[1], const int16_t A[4], const int16_t B[4]",
             "for (int k = 0; k < 4; k++) C[0] += A[k] * B[k];")


def test_what_is_allowed_is_no_fact() -> None:
    assert numeric_facts(DOT, Numerics(), fused=False) == []
    assert numeric_facts(WHOLE, Numerics(reassociate=False, contract=False, flush=False), fused=False) == [], "integers"


def test_additions_in_another_order_need_leave() -> None:
    (fact,) = numeric_facts(APART, Numerics(reassociate=False), fused=False)
    assert fact == Fact("numerics", "apart reorders float additions, which is not allowed here",
                        "allow it with --allow reassociate")


def test_additions_in_the_order_of_the_text_are_left_to_the_mapping() -> None:
    assert numeric_facts(DOT, Numerics(reassociate=False), fused=False) == []


def test_functions_may_fuse_products_unless_the_program_does() -> None:
    blas = find_intrinsic("cblas_sgemm")
    strict = Numerics(contract=False)
    assert any("--allow contract" in fact.rewrite for fact in numeric_facts(blas, strict, fused=False))
    assert not any("--allow contract" in fact.rewrite for fact in numeric_facts(blas, strict, fused=True))


@pytest.mark.parametrize(("elements", "text", "rewrite"), [
    ("int32_t", "the program has int32, whole wants int16", "int16"),
    ("float", "accumulates|the program has float32", ""),
])
def test_operands_of_another_type(elements: str, text: str, rewrite: str) -> None:
    scop = program(f"int32_t y[8], const {elements} A[8][12], const {elements} x[12]",
                   "for (int i = 0; i < 8; i++) for (int k = 0; k < 12; k++) y[i] += A[i][k] * x[k];")
    made = matched(scop, WHOLE)
    assert not made.matches
    told = "".join(map(str, made.explanations))
    assert any(part in told for part in text.split("|")), told
    assert rewrite in told
