"""Tile loops that can run in parallel: a coincident one outermost, or a wavefront of tiles."""

from __future__ import annotations

from dataclasses import replace

from polysched.scheduling.marks import Role
from polysched.tiling.loops import Loop
from polysched.tiling.position import Position, is_independent


def expose_parallelism(position: Position, tiles: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """Reorder or skew the tile loops of one permutable band so that one of the first two is parallel.

    Rewrite:  [a, b, c]  ->  [c, a, b]        when c carries no dependence
              [a, b, c]  ->  [a + b, b, c]    when none is free of dependences

    In a permutable band no dependence has a negative distance in any tile loop, so between tiles of one
    wavefront a + b the distances in a and in b are both zero: b carries nothing there.

    Source: U. Bondhugula, A. Hartono, J. Ramanujam, P. Sadayappan, "A Practical Automatic Polyhedral
    Parallelizer and Locality Optimizer", PLDI 2008, section 5.2.
    """
    free = [i for i, tile in enumerate(tiles) if is_independent(position, tile.function)]
    if free:
        first = free[0]
        return (tiles[first], *tiles[:first], *tiles[first + 1:])
    return skew(tiles) if len(tiles) > 1 else tiles


def skew(tiles: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """Rewrite:  [a, b, c]  ->  [a + b, b, c]."""
    front = tiles[0].function.add(tiles[1].function)
    return (Loop(function=front, mark=replace(tiles[0].mark, role=Role.WAVEFRONT)), *tiles[1:])
