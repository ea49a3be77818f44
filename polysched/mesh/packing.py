"""First placements: one rectangle after the other onto free cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

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
