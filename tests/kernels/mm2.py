"""Two matrix products, one after the other."""

# ruff: noqa: E741, F821 - the annotations name sizes


def mm2(m: int, n: int, k: int, l: int, alpha: float, beta: float, A: "float64[m, k]", B: "float64[k, l]",
        C: "float64[l, n]", D: "float64[m, n]", T: "float64[m, l]"):
    for i in range(m):
        for j in range(l):
            T[i, j] = 0.0
            for p in range(k):
                T[i, j] += alpha * A[i, p] * B[p, j]
    for i in range(m):
        for j in range(n):
            D[i, j] *= beta
            for p in range(l):
                D[i, j] += T[i, p] * C[p, j]
