"""Tile loops that can run in parallel: coincident ones outermost, or a wavefront of tiles."""

from __future__ import annotations

from dataclasses import replace

from polysched.scheduling.marks import Role
from polysched.tiling.loops import Loop
from polysched.tiling.position import Position, inside, is_independent


def expose_parallelism(position: Position, tiles: tuple[Loop, ...], *, degrees: int = 1) -> tuple[Loop, ...]:
    """Reorder or skew the tile loops of one permutable band so that `degrees` of the outer ones are parallel.

    Rewrite:  [a, b, c]  ->  [c, a, b]            when c carries no dependence
              [a, b, c]  ->  [a + b, b, c]        when none is free of dependences
              [a, b, c]  ->  [a + b + c, b, c]    for two degrees: b and c are parallel
              [a, b, c]  ->  [c, a + b, b]        for two degrees, when c carries no dependence: c and b are parallel

    In a permutable band no dependence has a negative distance in any tile loop, so between tiles of one
    wavefront a + b the distances in a and in b are both zero: b carries nothing there.  A band of d loops of which
    none is free gives 1 to d - 1 degrees; further ones make wavefronts shorter and more of them.

    Source: U. Bondhugula, A. Hartono, J. Ramanujam, P. Sadayappan, "A Practical Automatic Polyhedral
    Parallelizer and Locality Optimizer", PLDI 2008, section 5.2.
    """
    free = [i for i, tile in enumerate(tiles) if is_independent(position, tile.function)][:degrees]
    first = tuple(tiles[i] for i in free)
    rest = tuple(tile for i, tile in enumerate(tiles) if i not in free)
    missing = min(degrees - len(free), len(rest) - 1)
    if missing < 1:
        return (*first, *rest)
    skewed = skew(rest, degrees=missing)
    below = inside(position, skewed[0].function)
    if not position.unordered.is_empty() and not is_independent(below, skewed[1].function):
        return (*first, *rest)   # updates of a relaxed reduction may have any distance
    return (*first, *skewed)


def skew(tiles: tuple[Loop, ...], *, degrees: int = 1) -> tuple[Loop, ...]:
    """Rewrite:  [a, b, c]  ->  [a + b, b, c], and [a + b + c, b, c] for two degrees."""
    front = tiles[0].function
    for tile in tiles[1:1 + degrees]:
        front = front.add(tile.function)
    return (Loop(function=front, mark=replace(tiles[0].mark, role=Role.WAVEFRONT)), *tiles[1:])
