"""Three matrix products, as array expressions."""

# ruff: noqa: E741, F821 - the annotations name sizes


def mm3(m: int, n: int, k: int, l: int, q: int, A: "float64[m, k]", B: "float64[k, l]", C: "float64[l, q]",
        D: "float64[q, n]", E: "float64[m, l]", F: "float64[l, n]", G: "float64[m, n]"):
    E[:] = A @ B
    F[:] = C @ D
    G[:] = E @ F
