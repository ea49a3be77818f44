"""Symmetric update of rank k."""

# ruff: noqa: F821 - the annotations name sizes


def syrk(n: int, m: int, alpha: float, beta: float, C: "float64[n, n]", A: "float64[n, m]"):
    for i in range(n):
        for j in range(i, n):
            C[i, j] = beta * C[i, j]
    for k in range(m):
        for i in range(n):
            for j in range(i, n):
                C[i, j] = C[i, j] + alpha * A[i, k] * A[j, k]
