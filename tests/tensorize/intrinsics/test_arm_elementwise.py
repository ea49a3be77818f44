"""Advanced SIMD instructions that assign: rounding doubled products and averages."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.arm_elementwise import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "arm_sqrdmulh_16": "int16[8] = int16[8], int16[8]",
    "arm_sqrdmulh_32": "int32[4] = int32[4], int32[4]",
    "arm_urhadd": "uint8[16] = uint8[16], uint8[16]",
    "arm_clz": "int32[4] = uint32[4]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {128}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {()}
