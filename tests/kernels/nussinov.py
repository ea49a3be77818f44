"""Largest number of nested base pairs of an RNA strand."""

# ruff: noqa: F821 - the annotations name sizes


def nussinov(n: int, base: "int32[n]", t: "int32[n, n]"):
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            t[i, j] = max(t[i, j - 1], t[i, j])
            t[i, j] = max(t[i + 1, j], t[i, j])
            if j > i + 1:
                t[i, j] = max(t[i + 1, j - 1] + (1 if (base[i] & 3) + (base[j] & 3) == 3 else 0), t[i, j])
            else:
                t[i, j] = max(t[i + 1, j - 1], t[i, j])
            for k in range(i + 1, j):
                t[i, j] = max(t[i, k] + t[k + 1, j], t[i, j])
