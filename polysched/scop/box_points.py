"""Integer points of sets that are nearly boxes: all points of the box at once, less those that a constraint excludes.

isl makes an object of every point that it finds, and one of every coordinate; where there are thousands, nearly all
time goes there.
"""

from __future__ import annotations

from itertools import chain
from math import prod
from operator import mul

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from polysched.scop.limits import LIMITS

LEAST_BOX = LIMITS.enumerated_box
LARGEST_BOX = LIMITS.largest_box
MOST_DIMENSIONS = LIMITS.numpy_dimensions

_EXACT = 1 << 62
"""Sums below it are exact in 64 bits."""


def in_every_box(domain: isl.Set) -> list[tuple[int, ...]] | None:
    """The points of a bounded set without parameters, each once; None where isl finds them better itself.

    That is where they are few, where the boxes around the set's pieces are large, where a piece has existentially
    quantified variables, and where numbers have more than 64 bits, or points more coordinates than arrays dimensions.
    """
    pieces = domain.get_basic_sets()
    if not 0 < domain.dim(isl.dim_type.set) <= MOST_DIMENSIONS or any(piece.dim(isl.dim_type.div) for piece in pieces):
        return None
    boxes = [_box(piece) for piece in pieces]
    volume = sum(prod(last - first + 1 for first, last in box) for box in boxes)
    if not LEAST_BOX <= volume <= LARGEST_BOX:
        return None
    found = [_points(piece, box) for piece, box in zip(pieces, boxes, strict=True)]
    if any(points is None for points in found):
        return None
    every = [list(map(tuple, points)) for points in found if points is not None]
    return every[0] if len(every) == 1 else list(dict.fromkeys(chain.from_iterable(every)))


def _box(piece: isl.BasicSet) -> list[tuple[int, int]]:
    """Least and largest value per dimension; one value more than none where the piece is empty."""
    if piece.is_empty():
        return [(0, -1)]
    as_set = isl.Set.from_basic_set(piece)
    return [(int(as_set.dim_min_val(d).to_python()), int(as_set.dim_max_val(d).to_python()))
            for d in range(piece.dim(isl.dim_type.set))]


def _points(piece: isl.BasicSet, box: list[tuple[int, int]]) -> list[list[int]] | None:
    """The points of a box that fulfil all constraints; None where a sum may not be exact."""
    extents = [last - first + 1 for first, last in box]
    if min(extents) < 1:
        return []
    if any(abs(number) >= _EXACT for ends in box for number in ends):
        return None
    axes = [np.arange(extent, dtype=np.int64).reshape([-1 if d == axis else 1 for d in range(len(box))])
            for axis, extent in enumerate(extents)]
    inside: NDArray[np.bool_] = np.ones(extents, dtype=bool)
    for constraint in piece.get_constraints():
        start, factors = _at_first(constraint, box)
        if abs(start) + sum(map(mul, map(abs, factors), extents)) >= _EXACT:
            return None
        value = sum((factor * axis for factor, axis in zip(factors, axes, strict=True) if factor), np.int64(start))
        inside &= value == 0 if constraint.is_equality() else value >= 0
    found: list[list[int]] = (np.argwhere(inside) + np.array([first for first, _ in box], dtype=np.int64)).tolist()
    return found


def _at_first(constraint: isl.Constraint, box: list[tuple[int, int]]) -> tuple[int, list[int]]:
    """A constraint's value at a box's first point, and its factors."""
    factors = [int(constraint.get_coefficient_val(isl.dim_type.set, d).to_python()) for d in range(len(box))]
    start = int(constraint.get_constant_val().to_python())
    return start + sum(factor * first for factor, (first, _) in zip(factors, box, strict=True)), factors
