"""Kernels that the tests of this room share, compiled once."""

from functools import lru_cache

from polysched.runtime import PreemptibleKernel, preemptible
from polysched.scop import from_c_text
from polysched.scop.expression import build, placeholder, symbols
from polysched.scop.expression.operators import matmul


@lru_cache
def product(tiles: int = 8) -> PreemptibleKernel:
    m, n, k = symbols("m n k")
    return preemptible(build(matmul(placeholder("a", (m, k), "float32"), placeholder("b", (k, n), "float32")),
                             name="product"), tiles=tiles)


@lru_cache
def sweeps(tiles: int = 8) -> PreemptibleKernel:
    text = """void f(int steps, int n, double a[restrict n][n]) {
#pragma scop
for (int t = 0; t < steps; t++)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}
"""
    return preemptible(from_c_text(text), tiles=tiles)
