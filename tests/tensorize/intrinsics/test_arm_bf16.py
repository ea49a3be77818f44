"""bfloat16 of Advanced SIMD: pairs of products, and 2 x 4 by 4 x 2."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.arm_bf16 import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "arm_bfdot": "float32[4] += bfloat16[2], bfloat16[4][2]",
    "arm_bfmmla": "float32[2][2] += bfloat16[2][4], bfloat16[2][4]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {128}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("bf16",)}
