"""AVX-VNNI: the dot products of VNNI at 256 bits."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx_vnni import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "vpdpbusd_avx": "int32[8] += uint8[4], int8[8][4]",
    "vpdpbusds_avx": "int32[8] += uint8[4], int8[8][4]",
    "vpdpwssd_avx": "int32[8] += int16[2], int16[8][2]",
    "vpdpwssds_avx": "int32[8] += int16[2], int16[8][2]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {256}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx2", "avxvnni")}
