"""Five-point averaging of the interior of a grid, as slices."""

# ruff: noqa: F821 - the annotations name sizes


def jacobi_2d(steps: int, m: int, n: int, a: "float64[m, n]", b: "float64[m, n]"):
    for _ in range(1, steps + 1):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[:-2, 1:-1] + b[2:, 1:-1])
