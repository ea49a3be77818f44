"""Symmetric update of rank 2k."""

# ruff: noqa: F821 - the annotations name sizes


def syr2k(n: int, m: int, alpha: float, beta: float, C: "float64[n, n]", A: "float64[n, m]", B: "float64[n, m]"):
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * (A[i, k] * B[j, k] + B[i, k] * A[j, k])
