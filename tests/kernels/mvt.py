"""Two products of a matrix and its transpose with vectors."""

# ruff: noqa: F821 - the annotations name sizes


def mvt(n: int, a: "float32[n]", b: "float32[n]", c: "float32[n]", d: "float32[n]", M: "float32[n, n]"):
    a += M @ b
    c += M.T @ d
