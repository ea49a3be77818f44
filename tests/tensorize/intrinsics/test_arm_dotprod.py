"""Dot products of Advanced SIMD: four bytes per 32-bit lane."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.arm_dotprod import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "arm_sdot": "int32[4] += int8[4], int8[4][4]",
    "arm_udot": "uint32[4] += uint8[4], uint8[4][4]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {128}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("dotprod",)}
