"""Red-black relaxation: the points of one colour of a chessboard, then those of the other."""

# ruff: noqa: F821 - the annotations name sizes


def red_black(sweeps: int, n: int, a: "float64[n, n]"):
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1 + i % 2, n - 1, 2):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, n - 1):
            for j in range(2 - i % 2, n - 1, 2):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
