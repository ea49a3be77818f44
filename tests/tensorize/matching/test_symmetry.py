"""Exchanges of operands that leave an instruction as it is: found, and refused where operands are not alike."""

from __future__ import annotations

import pytest

from polysched.tensorize.matching.symmetry import automorphisms
from tests.tensorize.described import unit


def swaps(parameters: str, body: str) -> list[dict[str, str]]:
    made = unit("u", parameters, body)
    return [{a: b for a, b in swap.items() if a != b} for swap, _ in automorphisms(made)]


def test_factors_of_an_inner_product_change_places() -> None:
    found = swaps("float C[1], const float A[4], const float B[4]", "for (int k = 0; k < 4; k++) C[0] += A[k] * B[k];")
    assert found == [{}, {"A": "B", "B": "A"}]


def test_rows_and_columns_change_places_with_their_factors() -> None:
    outer = unit("u", "float C[4][4], const float A[4], const float B[4]",
                 "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) C[i][j] += A[i] * B[j];")
    (same, exchanged) = automorphisms(outer)
    assert same[1] == (0, 1)
    assert exchanged[1] == (1, 0), "the group of rows becomes that of columns"


@pytest.mark.parametrize(("parameters", "body"), [
    ("float C[4][8], const float A[4], const float B[8]",             # of other extents
     "for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) C[i][j] += A[i] * B[j];"),
    ("int32_t C[1], const uint8_t A[4], const int8_t B[4]",           # of other types
     "for (int k = 0; k < 4; k++) C[0] += A[k] * B[k];"),
    ("float C[1], const float A[4], const float B[4]",                # not commutative
     "for (int k = 0; k < 4; k++) C[0] += A[k] - B[k];"),
])
def test_operands_that_are_not_alike_stay(parameters: str, body: str) -> None:
    assert swaps(parameters, body) == [{}]
