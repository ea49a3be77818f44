"""Product with a symmetric matrix of which one half is stored."""

# ruff: noqa: F821 - the annotations name sizes


def symm(m: int, n: int, alpha: float, beta: float, A: "float64[m, m]", B: "float64[m, n]", C: "float64[m, n]"):
    for i in range(m):
        for j in range(n):
            C[i, j] = beta * C[i, j] + alpha * A[i, i] * B[i, j]
            for k in range(i):
                C[i, j] += alpha * A[i, k] * B[k, j]
                C[k, j] += alpha * A[i, k] * B[i, j]
