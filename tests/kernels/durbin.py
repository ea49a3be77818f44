"""Durbin's recursion for the Yule-Walker equations."""

# ruff: noqa: F821 - the annotations name sizes


def durbin(n: int, r: "float64[n]", y: "float64[n]", z: "float64[n]"):
    a = -r[0] / (2 * n)
    y[0] = a
    e = (1.0 - a * a) * (2 * n)
    for k in range(1, n):
        sum = r[k]
        for i in range(k):
            sum += r[k - 1 - i] * y[i]
        a = -sum / e
        for i in range(k):
            z[i] = y[i] + a * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = a
        e *= 1.0 - a * a
