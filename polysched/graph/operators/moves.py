"""`Move`: elements of one operand copied to affine places of a result, over a box of loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polysched.graph.values.sizes import Size, SizeLike


@dataclass(frozen=True)
class Place:
    """One subscript: `start + sum of factor * loop`.

    Parameters
    ----------
    start : the first place.
    terms : numbers of loops and factors.
    """

    start: Size
    terms: tuple[tuple[int, Size], ...] = ()

    @staticmethod
    def of(start: SizeLike, *terms: tuple[int, SizeLike]) -> Place:
        """A subscript with numbers among its sizes."""
        return Place(Size.of(start), tuple((loop, Size.of(factor)) for loop, factor in terms))


@dataclass(frozen=True)
class Move:
    """A copy `result[target] = operand[source]` for all values of the loops.

    Parameters
    ----------
    operand : the position of the operand.
    loops : the extents of the loops, outermost first.
    source, target : subscripts per dimension.
    """

    operand: int
    loops: tuple[Size, ...]
    source: tuple[Place, ...]
    target: tuple[Place, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the loops are the result's own dimensions."""
        return self.target == tuple(Place.of(0, (d, 1)) for d in range(len(self.loops)))


def gathered(operand: int, shape: Sequence[SizeLike], source: Sequence[Place]) -> Move:
    """A move that makes a whole result of a shape; `source` is over its dimensions."""
    loops = tuple(Size.of(e) for e in shape)
    return Move(operand, loops, tuple(source), tuple(Place.of(0, (d, 1)) for d in range(len(loops))))


def moved(moves: Sequence[Move], operands: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray:
    """What moves make, in NumPy: for tests of descriptions against references."""
    result = np.empty(tuple(shape), operands[moves[0].operand].dtype)
    for move in moves:
        loops = np.indices([int(e) for e in move.loops])

        def subscripts(places: tuple[Place, ...], loops: np.ndarray = loops) -> tuple[np.ndarray, ...]:
            return tuple(sum((loops[n] * int(f) for n, f in p.terms), np.full(loops.shape[1:], int(p.start)))
                         for p in places)
        result[subscripts(move.target)] = operands[move.operand][subscripts(move.source)]
    return result
