"""The two products of the biconjugate gradient method."""

# ruff: noqa: F821 - the annotations name sizes


def bicg(n: int, m: int, A: "float64[n, m]", s: "float64[m]", q: "float64[n]", p: "float64[m]", r: "float64[n]"):
    for j in range(m):
        s[j] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
