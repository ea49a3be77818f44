"""AVX-512 VNNI: groups of four bytes, or of two 16-bit numbers, added to 32-bit lanes."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx512_vnni import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "vpdpbusd": "int32[16] += uint8[4], int8[16][4]",
    "vpdpbusd_vector": "int32[16] += uint8[16][4], int8[16][4]",
    "vpdpbusd_m32bcst": "int32[16] += uint8[16][4], int8[4]",
    "vpdpbusds": "int32[16] += uint8[4], int8[16][4]",
    "vpdpwssd": "int32[16] += int16[2], int16[16][2]",
    "vpdpwssds": "int32[16] += int16[2], int16[16][2]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {512}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx512f", "avx512vnni")}
