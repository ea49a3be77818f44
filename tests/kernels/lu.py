"""LU factors in place."""

# ruff: noqa: F821 - the annotations name sizes


def lu(n: int, A: "float64[n, n]"):
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
