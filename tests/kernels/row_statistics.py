"""Rows of a matrix scaled to unit range, with local variables and a local array."""

# ruff: noqa: F821 - the annotations name sizes

import numpy as np


def row_statistics(m: int, n: int, x: "float64[m, n]", y: "float64[m, n]", total: "float64[1]", count: "int64[1]"):
    span = np.empty(m)
    total[0] = 0.0
    count[0] = 0
    for i in range(m):
        lo = x[i, 0]
        hi = x[i, 0]
        for j in range(1, n):
            lo = x[i, j] if x[i, j] < lo else lo
            hi = x[i, j] if x[i, j] > hi else hi
        span[i] = hi - lo + 1.0
        for j in range(n):
            y[i, j] = (x[i, j] - lo) / span[i]
            total[0] += y[i, j]
            count[0] += 1
