"""Covariance of m variables observed n times."""

# ruff: noqa: F821 - the annotations name sizes


def covariance(n: int, m: int, x: "float64[n, m]", cov: "float64[m, m]", mean: "float64[m]"):
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += x[i, j]
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            x[i, j] -= mean[j]
    for j in range(m):
        for k in range(j, m):
            cov[j, k] = 0.0
            for i in range(n):
                cov[j, k] += x[i, j] * x[i, k]
            cov[k, j] = cov[j, k] / (n - 1.0)
            cov[j, k] = cov[k, j]
