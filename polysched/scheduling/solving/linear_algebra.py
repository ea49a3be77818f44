"""Exact integer linear algebra for schedule rows: rank and orthogonal complement."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm


@lru_cache(maxsize=4096)
def null_space(rows: tuple[tuple[int, ...], ...], width: int) -> tuple[tuple[int, ...], ...]:
    """A basis, with coprime integer entries, of the vectors that are orthogonal to every row.

    A vector lies in the span of the rows exactly when it is orthogonal to all of the basis.
    """
    reduced, pivots = _echelon(rows, width)
    basis = []
    for free in (c for c in range(width) if c not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for row, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -row[free]
        scale = lcm(*(v.denominator for v in vector))
        integers = [int(v * scale) for v in vector]
        common = gcd(*integers)
        basis.append(tuple(v // common for v in integers))
    return tuple(basis)


def rank(rows: Sequence[Sequence[int]], width: int) -> int:
    """The dimension of the span of the rows."""
    return len(_echelon(rows, width)[1])


def _echelon(rows: Sequence[Sequence[int]], width: int) -> tuple[list[list[Fraction]], list[int]]:
    """Reduced row echelon form without zero rows, and the pivot column of each row."""
    matrix = [[Fraction(v) for v in row] for row in rows]
    reduced: list[list[Fraction]] = []
    pivots: list[int] = []
    for column in range(width):
        chosen = next((r for r in matrix if r[column]), None)
        if chosen is None:
            continue
        matrix.remove(chosen)
        chosen = [v / chosen[column] for v in chosen]
        matrix = [[a - r[column] * b for a, b in zip(r, chosen, strict=True)] for r in matrix]
        reduced = [[a - r[column] * b for a, b in zip(r, chosen, strict=True)] for r in reduced]
        reduced.append(chosen)
        pivots.append(column)
    return reduced, pivots
