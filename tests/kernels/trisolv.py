"""Solution of a lower triangular system."""

# ruff: noqa: F821 - the annotations name sizes


def trisolv(n: int, L: "float64[n, n]", x: "float64[n]", b: "float64[n]"):
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]
