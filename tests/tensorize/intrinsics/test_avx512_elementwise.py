"""AVX-512 instructions that assign, of the extensions BW, VBMI, BF16 and VPOPCNTDQ."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx512_elementwise import ALL
from tests.tensorize.intrinsics.described import features, operands, require_sources

OPERANDS = {
    "vpavgb_512": "uint8[64] = uint8[64], uint8[64]",
    "vpmulhrsw_512": "int16[32] = int16[32], int16[32]",
    "vpopcntd": "uint32[16] = uint32[16]",
    "vpopcntq": "uint64[8] = uint64[8]",
    "vpermb": "uint8[64] = uint8[64], uint8[64]",
    "vcvtneps2bf16": "bfloat16[16] = float32[16]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx512bf16", "avx512f"), ("avx512bw", "avx512f"), ("avx512f", "avx512vbmi"),
                             ("avx512f", "avx512vpopcntdq")}
