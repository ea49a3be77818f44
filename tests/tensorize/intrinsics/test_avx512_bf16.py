"""AVX-512 BF16: pairs of bfloat16 products added to single floats."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx512_bf16 import ALL
from tests.tensorize.intrinsics.described import features, operands, register_bits, require_sources

OPERANDS = {
    "vdpbf16ps": "float32[16] += bfloat16[2], bfloat16[16][2]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]
    assert register_bits(intrinsic) <= {512}


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {("avx512bf16", "avx512f")}
