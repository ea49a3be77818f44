"""The sum of two products of a matrix with a vector."""

# ruff: noqa: F821 - the annotations name sizes


def gesummv(m: int, n: int, alpha: float, beta: float, A: "float64[m, n]", B: "float64[m, n]", x: "float64[n]",
            y: "float64[m]"):
    for i in range(m):
        bx = 0.0
        ax = bx
        for j in range(n):
            ax += A[i, j] * x[j]
            bx += B[i, j] * x[j]
        y[i] = alpha * ax + beta * bx
