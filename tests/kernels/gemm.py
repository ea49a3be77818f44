"""General matrix product in single precision."""

# ruff: noqa: F821 - the annotations name sizes

import numpy as np


def gemm(m: int, n: int, k: int, alpha: np.float32, beta: np.float32, C: "float32[m, n]", A: "float32[m, k]",
         B: "float32[k, n]"):
    for i in range(m):
        for j in range(n):
            C[i, j] *= beta
            for p in range(k):
                C[i, j] += alpha * A[i, p] * B[p, j]
