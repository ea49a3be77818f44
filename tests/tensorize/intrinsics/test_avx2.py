"""AVX2 and FMA on floats: multiply-adds of whole YMM registers."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx2 import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "fma_f32_avx2": "float32[8] += float32[1], float32[8]",
    "fma_f64_avx2": "float64[4] += float64[1], float64[4]",
    "mul_add_f32_avx2": "float32[8] += float32[8], float32[8]",
    "mul_add_f64_avx2": "float64[4] += float64[4], float64[4]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {256}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx2", "fma")}
