"""The outline of a set of integer points: its constraints moved out by half a step, so that neighbours share a border.

A constraint `c . x + k >= 0` over integers leaves the half-space `c . x + k + 1/2 >= 0`; the one of the neighbour,
`-c . x - k - 1 >= 0`, begins where it ends. A box becomes the cells of its points, a diamond a diamond.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import islpy as isl

from polysched.records import dataclass

Corner = tuple[float, ...]
Polygon = tuple[Corner, ...]
NEAR = 1e-9
FAR = 1e5  # half the edge of the squares that faces are cut from; pictures are much smaller


@dataclass(frozen=True)
class HalfSpace:
    """Where `normal . x + offset >= 0`."""

    normal: tuple[float, ...]
    offset: float

    def height(self, corner: Corner) -> float:
        """How far inside a corner lies, in units of the normal."""
        return sum(n * x for n, x in zip(self.normal, corner, strict=True)) + self.offset


def half_spaces(piece: isl.BasicSet) -> tuple[HalfSpace, ...] | None:
    """The constraints of a set without parameters, each moved out by half a step; None where it is no polyhedron.

    An equality becomes the two half-spaces around it.
    """
    if piece.dim(isl.dim_type.div):
        return None
    depth, found = piece.dim(isl.dim_type.set), []
    for constraint in piece.get_constraints():
        normal = tuple(float(constraint.get_coefficient_val(isl.dim_type.set, d).to_python()) for d in range(depth))
        offset = float(constraint.get_constant_val().to_python())
        found.append(HalfSpace(normal, offset + 0.5))
        if constraint.is_equality():
            found.append(HalfSpace(tuple(-n for n in normal), 0.5 - offset))
    return tuple(found)


def clipped(polygon: Polygon, to: HalfSpace) -> Polygon:
    """The part of a convex polygon, in any number of dimensions, that lies in a half-space.

    Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17(1), 1974.
    """
    kept: list[Corner] = []
    for start, end in zip(polygon, (*polygon[1:], *polygon[:1]), strict=True):
        above, below = to.height(start), to.height(end)
        if above >= -NEAR:
            kept.append(start)
        if (above > NEAR and below < -NEAR) or (above < -NEAR and below > NEAR):
            share = above / (above - below)
            kept.append(tuple(a + share * (b - a) for a, b in zip(start, end, strict=True)))
    return _without_twins(kept)


def outline(spaces: Sequence[HalfSpace]) -> Polygon:
    """The convex polygon of bounded half-planes; empty where they leave no area."""
    polygon: Polygon = ((-FAR, -FAR), (FAR, -FAR), (FAR, FAR), (-FAR, FAR))
    for space in spaces:
        polygon = clipped(polygon, space)
    return polygon if len(polygon) > 2 else ()


def faces(spaces: Sequence[HalfSpace]) -> tuple[Polygon, ...]:
    """The faces of the convex body that bounded half-spaces of three dimensions leave."""
    found: dict[frozenset[Corner], Polygon] = {}
    for number, space in enumerate(spaces):
        face = _square_in(space)
        for other in (*spaces[:number], *spaces[number + 1:]):
            face = clipped(face, other)
        if len(face) > 2:
            found.setdefault(frozenset(tuple(round(x, 4) for x in corner) for corner in face), face)
    return tuple(found.values())


def _square_in(space: HalfSpace) -> Polygon:
    """A large square in the border of a half-space."""
    length = sqrt(sum(n * n for n in space.normal))
    x, y, z = (n / length for n in space.normal)
    foot = tuple(-space.offset / length * n for n in (x, y, z))
    across = _unit((y, -x, 0.0) if abs(x) + abs(y) > NEAR else (1.0, 0.0, 0.0))
    up = (y * across[2] - z * across[1], z * across[0] - x * across[2], x * across[1] - y * across[0])
    return tuple(tuple(f + FAR * (s * a + t * u) for f, a, u in zip(foot, across, up, strict=True))
                 for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)))


def _unit(vector: tuple[float, float, float]) -> tuple[float, float, float]:
    length = sqrt(sum(v * v for v in vector))
    return vector[0] / length, vector[1] / length, vector[2] / length


def _without_twins(corners: Sequence[Corner]) -> Polygon:
    """Without corners that lie where the one before lies."""
    return tuple(corner for number, corner in enumerate(corners)
                 if max(abs(a - b) for a, b in zip(corner, corners[number - 1], strict=True)) > NEAR
                 or len(corners) == 1)
