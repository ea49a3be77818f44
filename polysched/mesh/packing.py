"""First placements: one rectangle after the other onto free cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget


def free_places(free: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Where a rectangle of cores is free: (row, column) of its first core, in row-major order.

    Parameters
    ----------
    free : of each core, shape (rows, columns) of the mesh.
    """
    if rows > free.shape[0] or columns > free.shape[1]:
        return np.empty((0, 2), dtype=np.int64)
    sums = np.zeros((free.shape[0] + 1, free.shape[1] + 1), dtype=np.int64)
    sums[1:, 1:] = (~free).cumsum(0).cumsum(1)
    taken = sums[rows:, columns:] - sums[:-rows, columns:] - sums[rows:, :-columns] + sums[:-rows, :-columns]
    return np.argwhere(taken == 0)


def greedy(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget, *,
           order: Sequence[int] | None = None) -> tuple[Rectangle, ...] | None:
    """Each operator, in topological order, where the bytes to those that stand already travel least.

    Distances are those of the middles.  None where one finds no free cores.

    Parameters
    ----------
    order : of the operators, where it is another one.
    """
    def way(number: int, places: np.ndarray, placed: Mapping[int, Rectangle]) -> np.ndarray:
        middle = places + np.array([(shapes[number].rows - 1) / 2, (shapes[number].columns - 1) / 2])
        total = np.zeros(len(places))
        for message in graph.touching[number]:
            source, sink = graph.ends[message]
            other = placed.get(source if sink == number else sink)
            if other is not None:
                there = np.array([other.row + (other.rows - 1) / 2, other.column + (other.columns - 1) / 2])
                total += graph.messages[message].bytes * np.abs(middle - there).sum(1)
        return total

    return _one_by_one(shapes, target, graph.order if order is None else order, way)


def row_major(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> tuple[Rectangle, ...] | None:
    """Each operator, in topological order, on the first free cores in row-major order: a plain pipeline."""
    return _one_by_one(shapes, target, graph.order, lambda _, places, __: np.arange(len(places)))


def _one_by_one(shapes: Sequence[Shape], target: MeshTarget, order: Sequence[int],
                cost: Callable[[int, np.ndarray, Mapping[int, Rectangle]], np.ndarray]) -> tuple[Rectangle, ...] | None:
    """Each operator in an order where it costs least; None where one finds no free cores.

    Parameters
    ----------
    cost : of an operator at each of some places, beside those that are placed already.
    """
    free = target.alive.copy()
    placed: dict[int, Rectangle] = {}
    for number in order:
        shape = shapes[number]
        places = free_places(free, shape.rows, shape.columns)
        if not len(places):
            return None
        row, column = places[int(cost(number, places, placed).argmin())].tolist()
        placed[number] = Rectangle(row, column, shape.rows, shape.columns)
        free[placed[number].slices] = False
    return tuple(placed[n] for n in range(len(shapes)))


def largest_first(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> tuple[Rectangle, ...] | None:
    """As `greedy`, the operators with most cores first: packs where the topological order does not."""
    rank = {n: place for place, n in enumerate(graph.order)}
    return greedy(graph, shapes, target, order=sorted(rank, key=lambda n: (-shapes[n].cores, rank[n])))


def corner_first(shapes: Sequence[Shape], target: MeshTarget, order: Sequence[int]) -> tuple[Rectangle, ...] | None:
    """Packs tightly: the first free core is the first one of some rectangle, or stays free; with backtracking.

    None where no packing is among the first `LIMITS.packing_tries`, or there is none.

    Parameters
    ----------
    order : of the operators, in which they are tried.
    """
    return _Corners(shapes, target, order).found()


class _Corners:
    """The search of `corner_first`: cores in row-major order, rectangles in theirs, equal ones once."""

    def __init__(self, shapes: Sequence[Shape], target: MeshTarget, order: Sequence[int]) -> None:
        self.target, self.free = target, target.alive.copy()
        self.left: dict[tuple[int, int], list[int]] = {}
        for number in order:
            self.left.setdefault((shapes[number].rows, shapes[number].columns), []).append(number)
        self.placed: dict[int, Rectangle] = {}
        self.spare = target.live_cores - sum(s.cores for s in shapes)
        self.tries = LIMITS.packing_tries

    def found(self) -> tuple[Rectangle, ...] | None:
        """The rectangles."""
        done = self.spare >= 0 and self._fill(0)
        return tuple(self.placed[n] for n in range(len(self.placed))) if done else None

    def _fill(self, core: int) -> bool:
        """Place what is left from a core on, and let cores stay free for that; whether that went."""
        if not any(self.left.values()):
            return True
        passed: list[int] = []
        done = False
        for first in range(core, self.free.size):
            if not self.free.flat[first]:
                continue
            done = self._begin(first)
            if done or self.tries < 0 or not self.spare:
                break
            self.spare -= 1
            self.free.flat[first] = False
            passed.append(first)
        self.spare += len(passed)
        for first in passed:
            self.free.flat[first] = True
        return done

    def _begin(self, core: int) -> bool:
        """Have some rectangle begin at a core, and place what is left then; whether that went."""
        row, column = divmod(core, self.target.columns)
        for (rows, columns), numbers in self.left.items():
            window = self.free[row:row + rows, column:column + columns]
            if not numbers or window.shape != (rows, columns) or not window.all():
                continue
            self.tries -= 1
            if self.tries < 0:
                return False
            number = numbers.pop(0)
            window[:] = False
            if self._fill(core + columns):
                self.placed[number] = Rectangle(row, column, rows, columns)
                return True
            window[:] = True
            numbers.insert(0, number)
        return False
