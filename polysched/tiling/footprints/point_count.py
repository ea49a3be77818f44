"""How many integer points a set has, nearly: by membership of evenly spread samples of its bounding box.

Counting one by one takes as long as running the loops, and the parts that tiles cut a domain into (full tiles, what
is left around them) have no share that a smaller size would show: below the size of a tile there is no full one.
"""

from __future__ import annotations

from math import prod

import islpy as isl
import numpy as np

from polysched.tiling.footprints.references import extent_of
from polysched.tiling.limits import LIMITS

SAMPLES = LIMITS.counted_samples


def point_count(points: isl.Set) -> float:
    """The number of points of a bounded set without parameters: exact for a box or a small set, else nearly.

    Source of the samples: M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018 (the additive
    recurrence of the generalised golden ratio).
    """
    points = _without_equations(points)
    depth = points.dim(isl.dim_type.set)
    if points.is_empty() or not depth:
        return 0.0 if points.is_empty() else 1.0
    extents = [extent_of(points, k) for k in range(depth)]
    if points.is_box():
        return float(prod(extents))
    if prod(extents) <= SAMPLES:
        return float(points.count_val().to_python())
    low = [int(points.dim_min_val(k).to_python()) for k in range(depth)]
    ratio = _golden(depth)
    steps = np.arange(1, SAMPLES + 1)[None, :] * ratio ** -np.arange(1, depth + 1)[:, None]
    at = np.array(low)[:, None] + ((0.5 + steps) % 1.0 * np.array(extents)[:, None]).astype(np.int64)
    return float(_members(points, at).mean()) * prod(extents)


def _golden(depth: int) -> float:
    """The positive root of x^(depth + 1) = x + 1."""
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (depth + 1))
    return root


def _without_equations(points: isl.Set) -> isl.Set:
    """A set with as many points, without the dimensions that equations give as affine functions of the others."""
    while True:
        hull = points.affine_hull()
        solvable = next((k for c in hull.get_constraints() if c.is_equality() and not _divides(c)
                         for k in range(points.dim(isl.dim_type.set))
                         if abs(c.get_coefficient_val(isl.dim_type.set, k).to_python()) == 1), None)
        if solvable is None:
            return points
        points = points.project_out(isl.dim_type.set, solvable, 1)


def _divides(constraint: isl.Constraint) -> bool:
    return any(not constraint.get_coefficient_val(isl.dim_type.div, k).is_zero()
               for k in range(constraint.dim(isl.dim_type.div)))


def _members(points: isl.Set, at: np.ndarray) -> np.ndarray:
    """Which columns of `at` are points of the set."""
    inside = np.zeros(at.shape[1], dtype=bool)
    for part in points.compute_divs().get_basic_sets():
        values = list(at)
        for k in range(part.dim(isl.dim_type.div)):
            values.append(_floor(part.get_div(k), values, at.shape[0]))
        holds = np.ones(at.shape[1], dtype=bool)
        for constraint in part.get_constraints():
            value = _floor(constraint.get_aff(), values, at.shape[0])
            holds &= value == 0 if constraint.is_equality() else value >= 0
        inside |= holds
    return inside


def _floor(function: isl.Aff, values: list[np.ndarray], depth: int) -> np.ndarray:
    """The function at every sample, rounded down; `values` are those of the dimensions, then of the divisions."""
    scale = function.get_denominator_val()

    def whole(value: isl.Val) -> int:
        return int(value.mul(scale).to_python())

    total = np.full(values[0].shape, whole(function.get_constant_val()), dtype=np.int64)
    for k, value in enumerate(values):
        kind, place = (isl.dim_type.in_, k) if k < depth else (isl.dim_type.div, k - depth)
        if place < function.dim(kind):
            total = total + whole(function.get_coefficient_val(kind, place)) * value
    return total // int(scale.to_python())
