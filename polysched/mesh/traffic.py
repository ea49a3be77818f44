"""Which bytes a message puts on which links.

A message is cut evenly, in row-major order, over the cores of its source.  Its sink wants it cut evenly over its own
cores, in row-major order; in column-major order where its cut is `columns`.  Every part that one core has and another
one wants is a piece, and travels on its own: along its row first (`xy`), or along its column first (`yx`).  Where the
sink needs whole rows (columns), each core passes its part on to the others of its row (column), in both directions.

A link is numbered `direction * rows * columns + row * columns + column` by the core that it leaves from; directions
are east, west, south, north.  All bytes are whole numbers, so that loads can be compared exactly.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from polysched.errors import PlacementError
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import Message
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget
from polysched.records import dataclass

Core: TypeAlias = tuple[int, int]
Path: TypeAlias = tuple[Core, ...]

STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))
"""Of the directions: east, west, south, north."""


@dataclass(frozen=True, eq=False)
class Flow:
    """What one message puts on the links.

    Parameters
    ----------
    links, loads : numbers of links, each once, and bytes on each.
    hop_bytes : the sum of the loads.
    hops : of the longest way of a piece, passing on included.
    largest : of the loads.
    detours : ways of the pieces that cannot go straight, in the order of the pieces.
    """

    links: np.ndarray
    loads: np.ndarray
    hop_bytes: int
    hops: int
    largest: int
    detours: tuple[Path, ...] = ()

    def on(self, links: np.ndarray) -> Flow:
        """The same on links of other numbers."""
        return replace(self, links=links)


@lru_cache(maxsize=4096)
def pieces(sources: int, sinks: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Source core, sink core and bytes of each piece of a message, cores counted inside their rectangles."""
    starts = np.arange(sources + 1, dtype=np.int64) * size // sources
    ends = np.arange(sinks + 1, dtype=np.int64) * size // sinks
    edges = np.unique(np.concatenate([starts, ends]))
    low = edges[:-1]
    return (np.searchsorted(starts, low, side="right") - 1, np.searchsorted(ends, low, side="right") - 1,
            np.diff(edges))


def piece_ends(message: Message, source: Shape | Rectangle, sink: Shape | Rectangle) -> tuple[np.ndarray, np.ndarray]:
    """From where to where each piece goes inside the two rectangles, (4, pieces) rows and columns, and its bytes."""
    i, j, size = pieces(source.cores, sink.cores, message.bytes)
    to_row, to_column = (j % sink.rows, j // sink.rows) if message.cut == "columns" else divmod(j, sink.columns)
    return np.stack([*divmod(i, source.columns), to_row, to_column]), size


def piece_offsets(message: Message, source: Shape, sink: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns that each piece goes where both rectangles begin at one core, and its bytes."""
    (from_row, from_column, to_row, to_column), size = piece_ends(message, source, sink)
    return to_row - from_row, to_column - from_column, size


def piece_sizes(message: Message, source: Shape, sink: Shape) -> np.ndarray:
    """The bytes of each piece."""
    return pieces(source.cores, sink.cores, message.bytes)[2]


class Traffic:
    """Makes the flows of messages on one mesh, and keeps the last ones that it made, at most `LIMITS.most_flows`."""

    def __init__(self, target: MeshTarget) -> None:
        self.target = target
        self._straight: dict[tuple[object, ...], Flow] = {}
        self._ways: dict[Core, np.ndarray] = {}
        dead = (~target.alive).astype(np.int64)
        self._dead_in_row = np.concatenate([np.zeros((target.rows, 1), np.int64), dead.cumsum(1)], axis=1)
        self._dead_in_column = np.concatenate([np.zeros((1, target.columns), np.int64), dead.cumsum(0)], axis=0)

    def flow(self, message: Message, source: Rectangle, sink: Rectangle, order: str) -> Flow:
        """The flow of a message between two rectangles of cores that live.

        Raises
        ------
        PlacementError : dead cores keep the two apart.
        """
        kept, links = self.kept(message, source, sink, order)
        return kept.on(kept.links + links)

    def kept(self, message: Message, source: Rectangle, sink: Rectangle, order: str) -> tuple[Flow, int]:
        """The flow of a message as it is kept, and by how many numbers of links it has to be moved.

        Raises
        ------
        PlacementError : dead cores keep the two apart.
        """
        if self.target.dead:
            whole = (message.bytes, message.cut, source, sink, order)
            return self._straight.get(whole) or self._keep(whole, self._around(message, source, sink, order)), 0
        row, column = min(source.row, sink.row), min(source.column, sink.column)
        key = (message.bytes, message.cut, sink.row - source.row, sink.column - source.column, source.rows,
               source.columns, sink.rows, sink.columns, order)
        kept = self._straight.get(key)
        if kept is None:
            source = Rectangle(source.row - row, source.column - column, source.rows, source.columns)
            sink = Rectangle(sink.row - row, sink.column - column, sink.rows, sink.columns)
            kept = self._keep(key, self._flow(message, source, sink, *self._ends(message, source, sink), order))
        return kept, row * self.target.columns + column

    def _keep(self, key: tuple[object, ...], flow: Flow) -> Flow:
        if len(self._straight) >= LIMITS.most_flows:
            self._straight.clear()
        self._straight[key] = flow
        return flow

    def _ends(self, message: Message, source: Rectangle, sink: Rectangle) -> tuple[np.ndarray, np.ndarray]:
        """From where to where each piece goes on the mesh, as an array (4, pieces), and its bytes."""
        ends, size = piece_ends(message, source, sink)
        return ends + np.array([[source.row], [source.column], [sink.row], [sink.column]]), size

    def _flow(self, message: Message, source: Rectangle, sink: Rectangle, ends: np.ndarray, size: np.ndarray,
              order: str) -> Flow:
        """Of pieces that all go straight."""
        rows = max(source.row + source.rows, sink.row + sink.rows)
        columns = max(source.column + source.columns, sink.column + sink.columns)
        loads = straight_loads(ends, size, order, rows, columns)
        passed_on(message, sink, loads)
        return self._of_loads(loads, ends, message, sink)

    def _of_loads(self, loads: np.ndarray, ends: np.ndarray, message: Message, sink: Rectangle,
                  detours: tuple[Path, ...] = ()) -> Flow:
        direction, row, column = np.nonzero(loads)
        links = (direction * self.target.rows + row) * self.target.columns + column
        kept = loads[direction, row, column]
        way = np.abs(ends[0] - ends[2]) + np.abs(ends[1] - ends[3])
        longest = max([int(way.max(initial=0)), *(len(d) - 1 for d in detours)])
        more = {"cells": 0, "rows": sink.columns - 1, "columns": sink.rows - 1}[message.cut] if message.bytes else 0
        return Flow(links, kept, int(kept.sum()), longest + more, int(kept.max(initial=0)), detours)

    def _around(self, message: Message, source: Rectangle, sink: Rectangle, order: str) -> Flow:
        """Of pieces some of which may have to go around dead cores."""
        ends, size = self._ends(message, source, sink)
        blocked = self._blocked(ends, order)
        loads = straight_loads(ends[:, ~blocked], size[~blocked], order, self.target.rows, self.target.columns)
        detours = []
        for (r1, c1, r2, c2), weight in zip(ends[:, blocked].T.tolist(), size[blocked].tolist(), strict=True):
            detour = self._way((r1, c1), (r2, c2))
            detours.append(detour)
            for (row, column), following in itertools.pairwise(detour):
                loads[STEPS.index((following[0] - row, following[1] - column)), row, column] += weight
        passed_on(message, sink, loads)
        return self._of_loads(loads, ends[:, ~blocked], message, sink, tuple(detours))

    def _blocked(self, ends: np.ndarray, order: str) -> np.ndarray:
        """Which pieces would meet a dead core."""
        r1, c1, r2, c2 = ends
        left, right, top, bottom = np.minimum(c1, c2), np.maximum(c1, c2), np.minimum(r1, r2), np.maximum(r1, r2)
        row, column = (r1, c2) if order == "xy" else (r2, c1)
        met = self._dead_in_row[row, right + 1] - self._dead_in_row[row, left]
        met += self._dead_in_column[bottom + 1, column] - self._dead_in_column[top, column]
        return np.asarray(met > 0)

    def _way(self, source: Core, sink: Core) -> Path:
        """A shortest way over cores that live; of several, the first in the order of the directions."""
        if sink not in self._ways:
            self._ways[sink] = self._distances(sink)
        distances = self._ways[sink]
        if distances[source] < 0:
            raise PlacementError("dead cores cut the mesh apart", witness=f"no way from core {source} to core {sink}")
        way = [source]
        while way[-1] != sink:
            row, column = way[-1]
            way.append(next((r, c) for r, c in self._neighbours(row, column)
                            if distances[r, c] == distances[row, column] - 1))
        return tuple(way)

    def _distances(self, sink: Core) -> np.ndarray:
        """The hops from every core; -1 from where there is no way."""
        distances = np.full((self.target.rows, self.target.columns), -1)
        distances[sink] = 0
        queue = deque([sink])
        while queue:
            row, column = queue.popleft()
            for near in self._neighbours(row, column):
                if distances[near] < 0:
                    distances[near] = distances[row, column] + 1
                    queue.append(near)
        return distances

    def _neighbours(self, row: int, column: int) -> list[Core]:
        near = [(row + r, column + c) for r, c in STEPS]
        return [(r, c) for r, c in near if 0 <= r < self.target.rows and 0 <= c < self.target.columns
                and self.target.alive[r, c]]


def straight_loads(ends: np.ndarray, size: np.ndarray, order: str, rows: int, columns: int) -> np.ndarray:
    """Bytes on every link, shape (4, rows, columns), of pieces with one turn: differences, then sums."""
    r1, c1, r2, c2 = ends
    row, column = (r1, c2) if order == "xy" else (r2, c1)
    change = np.zeros((4, rows + 1, columns + 1), dtype=np.int64)
    np.add.at(change, (0, row, c1), np.where(c2 > c1, size, 0))
    np.add.at(change, (0, row, c2), np.where(c2 > c1, -size, 0))
    np.add.at(change, (1, row, c2 + 1), np.where(c2 < c1, size, 0))
    np.add.at(change, (1, row, c1 + 1), np.where(c2 < c1, -size, 0))
    np.add.at(change, (2, r1, column), np.where(r2 > r1, size, 0))
    np.add.at(change, (2, r2, column), np.where(r2 > r1, -size, 0))
    np.add.at(change, (3, r2 + 1, column), np.where(r2 < r1, size, 0))
    np.add.at(change, (3, r1 + 1, column), np.where(r2 < r1, -size, 0))
    return np.concatenate([change[:2].cumsum(2), change[2:].cumsum(1)])[:, :-1, :-1]


def passed_on(message: Message, sink: Rectangle, loads: np.ndarray) -> None:
    """Add what the cores of a sink pass on along their rows, or along their columns."""
    if message.cut == "cells":
        return
    lines, length = (sink.rows, sink.columns) if message.cut == "rows" else (sink.columns, sink.rows)
    before = np.arange(sink.cores + 1, dtype=np.int64) * message.bytes // sink.cores
    first = before[:-1].reshape(lines, length)[:, :1]
    ahead = before[1:].reshape(lines, length)[:, :-1] - first
    back = before[1:].reshape(lines, length)[:, -1:] - first - ahead
    there = loads[:, sink.slices[0], sink.slices[1]]
    if message.cut == "rows":
        there[0, :, :-1] += ahead
        there[1, :, 1:] += back
    else:
        there[2, :-1, :] += ahead.T
        there[3, 1:, :] += back.T


def total_loads(flows: Sequence[Flow], target: MeshTarget) -> np.ndarray:
    """Bytes on every link, by its number."""
    loads = np.zeros(4 * target.rows * target.columns, dtype=np.int64)
    for flow in flows:
        loads[flow.links] += flow.loads
    return loads
