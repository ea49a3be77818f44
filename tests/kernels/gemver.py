"""Two rank-one updates and two products with the result."""

# ruff: noqa: F821 - the annotations name sizes


def gemver(n: int, alpha: float, beta: float, A: "float64[n, n]", u: "float64[n]", v: "float64[n]", s: "float64[n]",
           t: "float64[n]", w: "float64[n]", x: "float64[n]", y: "float64[n]", z: "float64[n]"):
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u[i] * v[j] + s[i] * t[j]
    for j in range(n):
        for i in range(n):
            x[j] += beta * A[i, j] * y[i]
        x[j] += z[j]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * A[i, j] * x[j]
