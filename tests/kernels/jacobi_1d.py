"""Three-point averaging of a line."""

# ruff: noqa: F821 - the annotations name sizes


def jacobi_1d(steps: int, n: int, a: "float32[n]", b: "float32[n]"):
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3
