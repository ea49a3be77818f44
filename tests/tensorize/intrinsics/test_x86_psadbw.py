"""Sums of absolute differences of eight bytes."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.x86_psadbw import ALL
from tests.tensorize.intrinsics.described import features, operands, require_sources

OPERANDS = {
    "vpsadbw_avx2": "int32[4] += uint8[8], uint8[4][8]",
    "vpsadbw_vector_avx2": "int32[4] += uint8[4][8], uint8[4][8]",
    "vpsadbw": "int32[8] += uint8[8], uint8[8][8]",
    "vpsadbw_vector": "int32[8] += uint8[8][8], uint8[8][8]",
    "vpsadbw_64_avx2": "int64[4] += uint8[8], uint8[4][8]",
    "vpsadbw_64_vector_avx2": "int64[4] += uint8[4][8], uint8[4][8]",
    "vpsadbw_64": "int64[8] += uint8[8], uint8[8][8]",
    "vpsadbw_64_vector": "int64[8] += uint8[8][8], uint8[8][8]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx2",), ("avx512bw", "avx512f")}
