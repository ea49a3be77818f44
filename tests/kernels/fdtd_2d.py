"""Maxwell's equations in two dimensions by finite differences in time."""

# ruff: noqa: F821 - the annotations name sizes


def fdtd_2d(steps: int, nx: int, ny: int, ex: "float64[nx, ny]", ey: "float64[nx, ny]", hz: "float64[nx, ny]",
            src: "float64[steps]"):
    for t in range(steps):
        for j in range(ny):
            ey[0, j] = src[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
