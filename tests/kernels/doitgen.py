"""A product along the last dimension of a three-dimensional array, in place."""

# ruff: noqa: F821 - the annotations name sizes


def doitgen(nr: int, nq: int, np: int, A: "float64[nr, nq, np]", M: "float64[np, np]", row: "float64[np]"):
    for r in range(nr):
        for q in range(nq):
            for p in range(np):
                row[p] = 0.0
                for s in range(np):
                    row[p] += A[r, q, s] * M[s, p]
            for p in range(np):
                A[r, q, p] = row[p]
