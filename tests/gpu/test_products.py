"""Which dimensions of an instruction are rows, columns and sums."""

from __future__ import annotations

from polysched.gpu.products import needs_more, product_groups
from polysched.scop import from_c_text
from polysched.tensorize import find_intrinsic, match
from tests.gpu.products import PLAIN

SUM = ("void f(int n, int C[n], unsigned char A[n][4], signed char B[n][4]) {\n#pragma scop\n"
       "  for (int i = 0; i < n; i++)\n    for (int k = 0; k < 4; k++)\n      C[i] += A[i][k] * B[i][k];\n"
       "#pragma endscop\n}\n")


def test_a_product_of_two_matrices_has_three_groups() -> None:
    found = match(from_c_text(PLAIN), find_intrinsic("mma_16x8x16_s8")).matches
    assert [product_groups(own) for own in found] == [
        (frozenset("AC"), frozenset("BC"), frozenset("AB"))] * 2
    assert not any(map(needs_more, found))


def test_lanes_of_sums_are_no_product_of_matrices() -> None:
    found = match(from_c_text(SUM), find_intrinsic("vpdpbusd")).matches
    assert found
    assert not any(product_groups(own) for own in found)
