"""AVX2 instructions that assign: averages, packs, blends, conversions."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx2_elementwise import ALL
from tests.tensorize.intrinsics.described import features, operands, require_sources

OPERANDS = {
    "vpavgb": "uint8[32] = uint8[32], uint8[32]",
    "vpavgw": "uint16[16] = uint16[16], uint16[16]",
    "vpmulhrsw": "int16[16] = int16[16], int16[16]",
    "vpmulhw": "int16[16] = int16[16], int16[16]",
    "vpaddsw": "int16[16] = int16[16], int16[16]",
    "vpaddusb": "uint8[32] = uint8[32], uint8[32]",
    "vpsubusb": "uint8[32] = uint8[32], uint8[32]",
    "vpcmpgtb": "int8[32] = int8[32], int8[32]",
    "vpminub": "uint8[32] = uint8[32], uint8[32]",
    "vpminsb": "int8[32] = int8[32], int8[32]",
    "vpminuw": "uint16[16] = uint16[16], uint16[16]",
    "vpminsw": "int16[16] = int16[16], int16[16]",
    "vpminud": "uint32[8] = uint32[8], uint32[8]",
    "vpminsd": "int32[8] = int32[8], int32[8]",
    "vpmaxub": "uint8[32] = uint8[32], uint8[32]",
    "vpmaxsb": "int8[32] = int8[32], int8[32]",
    "vpmaxuw": "uint16[16] = uint16[16], uint16[16]",
    "vpmaxsw": "int16[16] = int16[16], int16[16]",
    "vpmaxud": "uint32[8] = uint32[8], uint32[8]",
    "vpmaxsd": "int32[8] = int32[8], int32[8]",
    "compare_exchange_ub_avx2": "uint8[32], uint8[32] = uint8[32], uint8[32]",
    "compare_exchange_sw_avx2": "int16[16], int16[16] = int16[16], int16[16]",
    "compare_exchange_sd_avx2": "int32[8], int32[8] = int32[8], int32[8]",
    "butterfly_i16_avx2": "int16[16], int16[16] += ",
    "butterfly_i32_avx2": "int32[8], int32[8] += ",
    "vpabsb": "uint8[32] = int8[32]",
    "vpabsd": "int32[8] = int32[8]",
    "vpblendvb": "int8[32] = int8[32], int8[32], int8[32]",
    "vpackssdw": "int16[2][2][4] = int32[2][4], int32[2][4]",
    "vpacksswb": "int8[2][2][8] = int16[2][8], int16[2][8]",
    "vpackusdw": "uint16[2][2][4] = int32[2][4], int32[2][4]",
    "vpackuswb": "uint8[2][2][8] = int16[2][8], int16[2][8]",
    "vpshufb": "uint8[2][16] = uint8[2][16], uint8[2][16]",
    "vpermd": "int32[8] = int32[8], int32[8]",
    "vpmovsxbw": "int16[16] = int8[16]",
    "vpmovzxbw": "int16[16] = uint8[16]",
    "vcvtdq2ps": "float32[8] = int32[8]",
    "vcvtps2dq": "int32[8] = float32[8]",
    "vcvtph2ps": "float32[8] = float16[8]",
    "vcvtps2ph": "float16[8] = float32[8]",
    "vroundps": "float32[8] = float32[8]",
    "complex_f32_avx2": "float32[4][2] = float32[4][2], float32[4][2]",
    "complex_i32_avx2": "int32[8], int32[8] += int32[8], int32[8], int32[8], int32[8]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx2",), ("avx2", "f16c"), ("avx2", "fma")}
