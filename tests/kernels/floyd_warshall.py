"""Lengths of all shortest paths in a directed graph."""

# ruff: noqa: F821 - the annotations name sizes


def floyd_warshall(n: int, d: "int32[n, n]"):
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = d[i, j] if d[i, j] < d[i, k] + d[k, j] else d[i, k] + d[k, j]
