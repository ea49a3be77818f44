"""Nine-point averaging in place."""

# ruff: noqa: F821 - the annotations name sizes


def seidel_2d(sweeps: int, n: int, a: "float64[n, n]"):
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = ((a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]) + (a[i, j - 1] + a[i, j] + a[i, j + 1])
                           + (a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1])) / 9.0
