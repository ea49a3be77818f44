"""RISC-V vectors at 128 bits: widening multiply-adds into groups of two registers."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.riscv_v import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "rvv_vwmacc_i16": "int32[8] += int16[1], int16[8]",
    "rvv_vwmacc_i8": "int16[16] += int8[1], int8[16]",
    "rvv_vwmaccsu_i16": "int32[8] += int16[1], uint16[8]",
    "rvv_vwmaccus_i16": "int32[8] += uint16[1], int16[8]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {256}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("abi=lp64d", "arch=rv64gcv")}
