"""AVX-512 on floats: multiply-adds of whole ZMM registers."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx512 import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "fma_f32_avx512": "float32[16] += float32[1], float32[16]",
    "fma_f64_avx512": "float64[8] += float64[1], float64[8]",
    "mul_add_f32_avx512": "float32[16] += float32[16], float32[16]",
    "mul_add_f64_avx512": "float64[8] += float64[8], float64[8]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {512}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx512f",)}
