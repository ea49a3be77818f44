"""Pearson correlation of m variables observed n times."""

# ruff: noqa: F821 - the annotations name sizes

import math

TINY = 0.001


def correlation(n: int, m: int, x: "float64[n, m]", corr: "float64[m, m]", mean: "float64[m]", sd: "float64[m]"):
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += x[i, j]
        mean[j] = mean[j] / n
    for j in range(m):
        sd[j] = 0.0
        for i in range(n):
            sd[j] += (x[i, j] - mean[j]) * (x[i, j] - mean[j])
        sd[j] = math.sqrt(sd[j] / n)
        sd[j] = 1.0 if sd[j] < TINY else sd[j]
    for i in range(n):
        for j in range(m):
            x[i, j] = (x[i, j] - mean[j]) / (math.sqrt(n) * sd[j])
    for j in range(m):
        corr[j, j] = 1.0
        for k in range(j):
            corr[j, k] = 0.0
            for i in range(n):
                corr[j, k] += x[i, j] * x[i, k]
            corr[k, j] = corr[j, k]
