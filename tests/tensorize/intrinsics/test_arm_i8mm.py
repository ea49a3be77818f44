"""Matrix products of Advanced SIMD: two rows of eight bytes by two more."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.arm_i8mm import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "arm_smmla": "int32[2][2] += int8[2][8], int8[2][8]",
    "arm_ummla": "uint32[2][2] += uint8[2][8], uint8[2][8]",
    "arm_usmmla": "int32[2][2] += uint8[2][8], int8[2][8]",
    "arm_usdot": "int32[4] += uint8[4], int8[4][4]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {128}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("dotprod", "i8mm")}
