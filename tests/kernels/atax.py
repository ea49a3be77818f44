"""Product of a matrix's transpose, the matrix, and a vector."""

# ruff: noqa: F821 - the annotations name sizes


def atax(m: int, n: int, A: "float64[m, n]", x: "float64[n]", y: "float64[n]", ax: "float64[m]"):
    for j in range(n):
        y[j] = 0
    for i in range(m):
        ax[i] = 0.0
        for j in range(n):
            ax[i] = ax[i] + A[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + A[i, j] * ax[i]
