"""Programs that compute products, arrays for them, and what a refused call says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from polysched.scop.expression import Tensor, axis, compute, placeholder, sum, symbols

RNG = np.random.default_rng(33)
PRODUCT = """
#include "rows.h"
double table[ROWS][5];
int calls = 0;
void product(int n, int m, double C[n][m], const double A[n][n], const double B[n][m]) {
  calls++;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def compiled(source: Any, **how: Any) -> Any:
    """`polysched.compile` in a third of the time: the loops stay as they are written."""
    plain = polysched.PipelineOptions(scheduler="original", tile="off", parallel=False)
    return polysched.compile(source, options=plain, **how)


def whole(*shape: int, dtype: str = "float64") -> np.ndarray:
    """An array of small whole numbers, whose sums are exact."""
    return RNG.integers(-9, 9, shape).astype(dtype)


def product_of(dtype: str = "float32") -> Tensor:
    M, N, K = symbols("M N K")
    A, B = placeholder("A", (M, K), dtype), placeholder("B", (K, N), dtype)
    k = axis("k")
    return compute((M, N), lambda i, j: sum(A[i, k] * B[k, j], over=k), name="C")


def refuses(call: Callable[[], object], *parts: str, error: type[Exception] = UsageError) -> None:
    with pytest.raises(error) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


def loops(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """A product of bytes, for `polysched.kernel`."""
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0
            for k in range(K):
                C[i, j] += np.int32(A[i, k]) * np.int32(B[k, j])
