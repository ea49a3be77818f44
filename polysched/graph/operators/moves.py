"""`Move`: elements of one operand copied to places of a result, over a box of loops.

A place is affine in the loops, or read from an operand of indices, which may count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from polysched.graph.values.sizes import Size, SizeLike
from polysched.records import dataclass


@dataclass(frozen=True)
class Place:
    """One subscript: `start + sum of factor * loop`, or an element of an operand of indices.

    Parameters
    ----------
    start : the first place.
    terms : numbers of loops and factors.
    index : the position of an operand, and where in it the subscript stands; then `start` and `terms` are nothing.
    """

    start: Size
    terms: tuple[tuple[int, Size], ...] = ()
    index: tuple[int, tuple[Place, ...]] | None = None

    @staticmethod
    def of(start: SizeLike, *terms: tuple[int, SizeLike]) -> Place:
        """A subscript with numbers among its sizes."""
        return Place(Size.of(start), tuple((loop, Size.of(factor)) for loop, factor in terms))

    @staticmethod
    def read(operand: int, places: Sequence[Place]) -> Place:
        """A subscript that stands in an operand."""
        return Place(Size(), (), (operand, tuple(places)))


@dataclass(frozen=True)
class Move:
    """A copy `result[target] = operand[source]` for all values of the loops, in their order.

    Parameters
    ----------
    operand : the position of the operand.
    loops : the extents of the loops, outermost first.
    source, target : subscripts per dimension.
    combine : `add`, `mul`, `max` or `min` of what is there and what comes; nothing for a copy.
    """

    operand: int
    loops: tuple[Size, ...]
    source: tuple[Place, ...]
    target: tuple[Place, ...]
    combine: str = ""

    @property
    def is_affine(self) -> bool:
        """Whether no subscript is read from an operand."""
        return all(p.index is None for p in (*self.source, *self.target))

    @property
    def is_whole(self) -> bool:
        """Whether the loops are the result's own dimensions."""
        return self.target == whole(len(self.loops))


def whole(rank: int, first: int = 0) -> tuple[Place, ...]:
    """The subscripts of loops that are the dimensions, from one loop on."""
    return tuple(Place.of(0, (first + d, 1)) for d in range(rank))


def gathered(operand: int, shape: Sequence[SizeLike], source: Sequence[Place]) -> Move:
    """A move that makes a whole result of a shape; `source` is over its dimensions."""
    loops = tuple(Size.of(e) for e in shape)
    return Move(operand, loops, tuple(source), whole(len(loops)))


COMBINED = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def moved(moves: Sequence[Move], operands: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray:
    """What moves make, in NumPy: for tests of descriptions against references."""
    result = np.empty(tuple(shape), operands[moves[0].operand].dtype)
    for move in moves:
        extents = [int(e) for e in move.loops]
        loops = np.indices(extents).reshape(len(extents), math.prod(extents))

        def subscripts(places: tuple[Place, ...], extents: tuple[int, ...],
                       loops: np.ndarray = loops) -> tuple[np.ndarray, ...]:
            found = []
            for place, extent in zip(places, extents, strict=True):
                if place.index is None:
                    own = np.full(loops.shape[1:], int(place.start))
                    for loop, factor in place.terms:
                        own = own + loops[loop] * int(factor)
                else:
                    index = operands[place.index[0]]
                    own = index[subscripts(place.index[1], index.shape)].astype(np.int64)
                    own = np.where(own < 0, own + extent, own)
                found.append(own)
            return tuple(found)
        source = operands[move.operand]
        values, target = source[subscripts(move.source, source.shape)], subscripts(move.target, result.shape)
        if move.combine:
            COMBINED[move.combine].at(result, target, values)
        else:
            result[target] = values if result.ndim else np.ravel(values)[-1]
    return result
