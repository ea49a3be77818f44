"""Heat equation on the unit square by alternating directions."""

# ruff: noqa: F821 - the annotations name sizes


def adi(n: int, steps: int, u: "float64[n, n]", v: "float64[n, n]", p: "float64[n, n]", q: "float64[n, n]"):
    dx = 1.0 / float(n)
    dt = 1.0 / float(steps + 1)
    a = dt / (dx * dx)
    b = 0.5 * a
    ca = -a / 2.0
    da = 1.0 + a
    cb = -b / 2.0
    db = 1.0 + b
    for _ in range(1, steps + 1):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -ca / (ca * p[i, j - 1] + da)
                q[i, j] = (-cb * u[j, i - 1] + (1.0 + 2.0 * cb) * u[j, i] - cb * u[j, i + 1] - ca * q[i, j - 1]) / (
                    ca * p[i, j - 1] + da)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -cb / (cb * p[i, j - 1] + db)
                q[i, j] = (-ca * v[i - 1, j] + (1.0 + 2.0 * ca) * v[i, j] - ca * v[i + 1, j] - cb * q[i, j - 1]) / (
                    cb * p[i, j - 1] + db)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
