"""AVX2 on integers: pairs of 16-bit products, and bytes widened to them."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx2_integer import ALL
from tests.tensorize.intrinsics.described import features, operands, require_sources

OPERANDS = {
    "vpmaddwd": "int32[8] += int16[2], int16[8][2]",
    "vpmaddwd_vector": "int32[8] += int16[8][2], int16[8][2]",
    "vpmaddwd_u8s8_vector": "int32[8] += uint8[8][2], int8[8][2]",
    "vpmaddwd_s8s8_vector": "int32[8] += int8[8][2], int8[8][2]",
    "vpmaddwd_u8u8_vector": "int32[8] += uint8[8][2], uint8[8][2]",
    "vpmaddubsw": "int32[8] += uint8[2][2], int8[8][2][2]",
    "vpmaddubsw_vector": "int32[8] += uint8[8][2][2], int8[8][2][2]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx2",)}
