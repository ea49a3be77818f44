"""`polysched.compile`: every kind of program as a function, against the original, and what a call refuses."""

from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.kernel import Kernel
from polysched.scop.expression import axis, compute, placeholder, sum, symbols

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


@pytest.fixture
def one(tmp_path: Path) -> Path:
    (tmp_path / "rows.h").write_text("#define ROWS 4\n")
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    return path


def whole(*shape: int, dtype: str = "float64") -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(dtype)


def product_of(dtype: str = "float32"):
    M, N, K = symbols("M N K")
    A, B = placeholder("A", (M, K), dtype), placeholder("B", (K, N), dtype)
    k = axis("k")
    return compute((M, N), lambda i, j: sum(A[i, k] * B[k, j], over=k), name="C")


def test_kernels_and_functions_are_kernels() -> None:
    def double(x):
        x *= 2
    for program in (double, polysched.kernel(double)):
        call = polysched.compile(program)
        assert isinstance(call, Kernel)
        x = whole(5)
        expected = x * 2
        call(x)
        np.testing.assert_array_equal(x, expected)
    kernel = polysched.kernel(double)
    assert polysched.compile(kernel) is kernel
    options = polysched.PipelineOptions(parallel=False)
    assert polysched.compile(kernel, options=options).options == options


def test_a_compiled_function_shows_its_name_and_its_arguments_in_one_line(one: Path) -> None:
    for function in (polysched.compile(one), polysched.compile(product_of())):
        assert repr(function).startswith("<polysched.compile: ")
        assert "(" in repr(function)
        assert "\n" not in repr(function)
