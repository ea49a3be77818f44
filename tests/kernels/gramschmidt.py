"""QR factors by the modified Gram-Schmidt process."""

# ruff: noqa: F821 - the annotations name sizes

import math


def gramschmidt(n: int, A: "float64[n + 2, n]", Q: "float64[n + 2, n]", R: "float64[n, n]"):
    for k in range(n):
        norm = 0.0
        for i in range(n + 2):
            norm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(norm)
        for i in range(n + 2):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(n + 2):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(n + 2):
                A[i, j] -= Q[i, k] * R[k, j]
