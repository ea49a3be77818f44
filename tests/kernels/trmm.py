"""Product with a triangular matrix in place."""

# ruff: noqa: F821 - the annotations name sizes


def trmm(m: int, n: int, alpha: float, A: "float64[m, m]", B: "float64[m, n]"):
    for i in range(m):
        for j in range(n):
            B[i, j] *= A[i, i]
            for k in range(i + 1, m):
                B[i, j] += A[i, k] * B[k, j]
            B[i, j] = alpha * B[i, j]
