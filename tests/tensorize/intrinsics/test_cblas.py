"""BLAS: products of any size, with their factors."""

from __future__ import annotations

import pytest

from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.cblas import ALL
from tests.tensorize.intrinsics.described import features, operands, require_sources

OPERANDS = {
    "cblas_sgemm": "float32[M][N] += float32[M][K], float32[K][N], float32, float32",
    "cblas_dgemm": "float64[M][N] += float64[M][K], float64[K][N], float64, float64",
    "cblas_sgemv": "float32[M] += float32[M][K], float32[K], float32, float32",
    "cblas_dgemv": "float64[M] += float64[M][K], float64[K], float64, float64",
    "cblas_sgemm_batch_strided": "float32[P][M][N] += float32[P][M][K], float32[P][K][N], float32, float32",
    "cblas_dgemm_batch_strided": "float64[P][M][N] += float64[P][M][K], float64[P][K][N], float64, float64",
}


def test_the_file_describes_these() -> None:
    assert [i.name for i in ALL] == list(OPERANDS)
    require_sources(ALL)


@pytest.mark.parametrize("intrinsic", ALL, ids=lambda i: i.name)
def test_operands_are_those_of_the_manual(intrinsic: Intrinsic) -> None:
    assert operands(intrinsic) == OPERANDS[intrinsic.name]


def test_the_extensions_that_they_need() -> None:
    assert features(ALL) == {()}
