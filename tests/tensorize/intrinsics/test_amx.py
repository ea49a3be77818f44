"""AMX: tiles of 16 rows of 64 bytes."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.amx import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "tdpbusd": "int32[16][16] += uint8[16][16][4], int8[16][16][4]",
    "tdpbssd": "int32[16][16] += int8[16][16][4], int8[16][16][4]",
    "tdpbsud": "int32[16][16] += int8[16][16][4], uint8[16][16][4]",
    "tdpbuud": "int32[16][16] += uint8[16][16][4], uint8[16][16][4]",
    "tdpbf16ps": "float32[16][16] += bfloat16[16][16][2], bfloat16[16][16][2]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {8192}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("amx-bf16", "amx-tile"), ("amx-int8", "amx-tile")}
