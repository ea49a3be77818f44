"""Matrix and vector units without C of their own."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.accelerators import ALL
from tests.tensorize.intrinsics.described import features, operands, require_sources

OPERANDS = {
    "davinci_cube": "float32[16][16] += float16[16][16], float16[16][16]",
    "gemv_unit": "float32[16] += float32[16][16], float32[16]",
    "axpy_unit": "float32[16] += float32[1], float32[16]",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {()}
