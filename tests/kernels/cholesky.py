"""Cholesky's factor, column by column."""

# ruff: noqa: F821 - the annotations name sizes

import math


def cholesky(n: int, A: "float64[n, n]"):
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = math.sqrt(A[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
