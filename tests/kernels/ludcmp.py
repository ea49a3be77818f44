"""Solution of a linear system by LU factors, forward and back substitution."""

# ruff: noqa: F821 - the annotations name sizes


def ludcmp(n: int, A: "float64[n, n]", b: "float64[n]", x: "float64[n]", y: "float64[n]"):
    for i in range(n):
        for j in range(i):
            sum = A[i, j]
            for k in range(j):
                sum -= A[i, k] * A[k, j]
            A[i, j] = sum / A[j, j]
        for j in range(i, n):
            sum = A[i, j]
            for k in range(i):
                sum -= A[i, k] * A[k, j]
            A[i, j] = sum
    for i in range(n):
        sum = b[i]
        for j in range(i):
            sum -= A[i, j] * y[j]
        y[i] = sum
    for i in range(n - 1, -1, -1):
        sum = y[i]
        for j in range(i + 1, n):
            sum -= A[i, j] * x[j]
        x[i] = sum / A[i, i]
