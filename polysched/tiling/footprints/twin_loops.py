"""Loops that a nest does not tell apart: exchanging them changes neither footprints nor limits.

    for b, h, t: A[b][h][t][i] = ...       b, h and t are twins where their extents are equal

Orders of tile loops that differ by exchanged twins have the same best tile, so that one of them is searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference


def twin_classes(nest: Nest, granules: Sequence[int], *, apart: Collection[int]) -> tuple[int, ...]:
    """Per loop, the first loop that it may be exchanged with; itself where there is none.

    Two loops that may each be exchanged with a third may be exchanged with each other, so these are classes.

    Parameters
    ----------
    granules : per loop, what its edges are multiples of.
    apart : loops that play a part of their own.
    """
    def like(loop: int) -> tuple[object, ...]:
        known = (nest.row_independent, nest.fixed, nest.expected, nest.free, nest.constant)
        return (nest.extents[loop], granules[loop], *(flags[loop:loop + 1] for flags in known))

    return tuple(next((other for other in range(loop) if {loop, other}.isdisjoint(apart) and like(loop) == like(other)
                       and _exchangeable(nest.references, other, loop)), loop) for loop in range(nest.depth))


def _exchangeable(references: Sequence[Reference], one: int, other: int) -> bool:
    """Whether the references are the same ones once the loops have each other's columns."""
    return Counter(_footprint(r, {}) for r in references) == Counter(
        _footprint(r, {one: other, other: one}) for r in references)


def _footprint(reference: Reference, exchanged: dict[int, int]) -> tuple[object, ...]:
    """What traffic depends on.

    The order of the dimensions does not count, but for the last one, whose elements share lines.
    """
    dims = [(tuple(row[exchanged.get(k, k)] for k in range(len(row))), span, most, dim in reference.cyclic)
            for dim, (row, span, most) in enumerate(zip(
                reference.coefficients, reference.spans, reference.reach, strict=True))]
    return (replace(reference, coefficients=(), spans=(), reach=(), cyclic=frozenset()), tuple(sorted(dims[:-1])),
            tuple(dims[-1:]))
