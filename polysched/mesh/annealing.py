"""Simulated annealing over positions, with incremental costs and a fixed seed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.mesh.cost import Change, Ledger
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle, Shape
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import Traffic
from polysched.records import dataclass

_FREE, _DEAD = -1, -2


@dataclass(frozen=True, kw_only=True)
class Annealed:
    """What annealing came to.

    Parameters
    ----------
    rectangles : of the operators.
    orders : of the routes of the messages.
    score : of both.
    """

    rectangles: tuple[Rectangle, ...]
    orders: tuple[str, ...]
    score: int


def anneal(graph: OperatorGraph, target: MeshTarget, rectangles: Sequence[Rectangle], *, seed: int = 0,
           moves: int | None = None, choices: Sequence[Sequence[Shape]] | None = None,
           turns: bool = False, soft: bool = False, traffic: Traffic | None = None) -> Annealed:
    """The best placement that moves, shapes and turns come to; never one that is worse than the first.

    Parameters
    ----------
    rectangles : to begin with, which share no core.
    seed : of the random moves; the same one gives the same placement.
    moves : to try; None for `LIMITS.moves_per_operator` per operator, `LIMITS.most_moves` at most.
    choices : other shapes that each operator may take on the way; None keeps all shapes.
    turns : messages may go along their column first.
    soft : judge the first moves by all large loads, not by the largest alone: where many links have that, moving one
        message off gains nothing yet.
    traffic : makes the flows, and may know many already.
    """
    count = min(LIMITS.most_moves, LIMITS.moves_per_operator * len(rectangles)) if moves is None else moves
    ledger, draw = Ledger(graph, target, rectangles, traffic), random.Random(seed)
    board = _Board(target, rectangles)
    best, score = ledger.score, ledger.energy if soft else ledger.score
    kept = Annealed(rectangles=tuple(rectangles), orders=tuple(ledger.orders), score=best)
    first = score
    for step in range(count if first else 0):
        temperature = first * LIMITS.hot_share * (LIMITS.cold_share / LIMITS.hot_share) ** (step / count)
        if soft and step >= LIMITS.soft_share * count:
            soft, score = False, ledger.score
        change = _changed(ledger, board, draw, choices, turns=turns)
        if change is None:
            continue
        least, luck = change.least_score, 0.0
        if least > score:   # so is what it comes to
            luck = draw.random()
            if luck >= math.exp((score - least) / temperature):
                continue
        undo = ledger.make(change)
        after = ledger.energy if soft else ledger.score
        if after > score >= least:
            luck = draw.random()
        if after <= score or luck < math.exp((score - after) / temperature):
            board.move(undo.rectangles, change.rectangles)
            score = after
            if ledger.score < best:
                best = ledger.score
                kept = Annealed(rectangles=tuple(ledger.rectangles), orders=tuple(ledger.orders), score=best)
        else:
            ledger.undo(undo)
    return kept


class _Board:
    """Which operator has which core, in row-major order: `_FREE` for none, `_DEAD` for a dead core.

    Sets of cores are whole numbers, a bit a core: where a rectangle is free is a few shifts.
    """

    def __init__(self, target: MeshTarget, rectangles: Sequence[Rectangle]) -> None:
        self.rows, self.columns = target.rows, target.columns
        self.owners: list[int] = np.where(target.alive, _FREE, _DEAD).ravel().tolist()
        self.free = sum(1 << core for core, owner in enumerate(self.owners) if owner == _FREE)
        self._cores: dict[tuple[int, int], int] = {}
        self._near: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
        self.move({}, dict(enumerate(rectangles)))

    def move(self, before: Mapping[int, Rectangle], after: Mapping[int, Rectangle]) -> None:
        """Take operators from their places, then put them to their new ones."""
        for rectangle in before.values():
            self._fill(rectangle, _FREE)
            self.free |= self.cores(rectangle)
        for number, rectangle in after.items():
            self._fill(rectangle, number)
            self.free &= ~self.cores(rectangle)

    def _fill(self, rectangle: Rectangle, owner: int) -> None:
        for first in self._firsts(rectangle):
            self.owners[first:first + rectangle.columns] = [owner] * rectangle.columns

    def _firsts(self, rectangle: Rectangle) -> range:
        """The first core of each row of a rectangle."""
        first = rectangle.row * self.columns + rectangle.column
        return range(first, first + rectangle.rows * self.columns, self.columns)

    def others_in(self, rectangle: Rectangle, number: int) -> set[int]:
        """Who has cores of a rectangle beside an operator itself."""
        found: set[int] = set()
        for first in self._firsts(rectangle):
            found.update(self.owners[first:first + rectangle.columns])
        return found - {_FREE, number}

    def cores(self, rectangle: Rectangle) -> int:
        """The set of a rectangle's cores."""
        key = rectangle.rows, rectangle.columns
        if key not in self._cores:
            line = (1 << rectangle.columns) - 1
            self._cores[key] = sum(line << row * self.columns for row in range(rectangle.rows))
        return self._cores[key] << rectangle.row * self.columns + rectangle.column

    def nearest(self, free: int, old: Rectangle) -> Rectangle | None:
        """The place nearest to an old one where as many cores are free; of several, the first in row-major order."""
        found = free
        for _ in range(1, old.columns):
            found = free & found >> 1
        line = found
        for _ in range(1, old.rows):
            found = line & found >> self.columns
        for core, place in self._by_distance(old.row, old.column):
            if found & place and core % self.columns <= self.columns - old.columns:
                row, column = divmod(core, self.columns)
                return replace(old, row=row, column=column)
        return None

    def _by_distance(self, row: int, column: int) -> tuple[tuple[int, int], ...]:
        """All cores and their bits, the nearest to one first."""
        if (row, column) not in self._near:
            self._near[row, column] = tuple((core, 1 << core) for core in sorted(
                range(self.rows * self.columns), key=lambda core: abs(core // self.columns - row)
                + abs(core % self.columns - column)))
        return self._near[row, column]


def _changed(ledger: Ledger, board: _Board, draw: random.Random, choices: Sequence[Sequence[Shape]] | None, *,
             turns: bool) -> Change | None:
    """A drawn change of a ledger; None where it cannot be."""
    if turns and ledger.orders and draw.random() < LIMITS.turn_share:
        message = draw.randrange(len(ledger.orders))
        return ledger.turned(message, "yx" if ledger.orders[message] == "xy" else "xy")
    if choices is not None and draw.random() < LIMITS.reshape_share:
        places = _reshaped(ledger, board, choices, draw)
    else:
        places = _proposal(ledger, board, draw)
    return ledger.moved(places) if places else None


def _proposal(ledger: Ledger, board: _Board, draw: random.Random) -> dict[int, Rectangle]:
    """A new place of an operator, and of those that stood there; none where these have no other one."""
    number = draw.randrange(len(ledger.rectangles))
    old = ledger.rectangles[number]
    new = _near(ledger, number, draw) if draw.random() < LIMITS.near_share else None
    if new is None:
        new = replace(old, row=draw.randrange(ledger.target.rows - old.rows + 1),
                      column=draw.randrange(ledger.target.columns - old.columns + 1))
    others = board.others_in(new, number)
    if new == old:
        return {}
    swapped = _swap(ledger, board, number, new, min(others)) if len(others) == 1 and _DEAD not in others else {}
    return swapped or _pushed(ledger, board, number, new)


def _reshaped(ledger: Ledger, board: _Board, choices: Sequence[Sequence[Shape]],
              draw: random.Random) -> dict[int, Rectangle]:
    """Another shape of an operator, on at least one core of its own, and new places of those that stood there."""
    number = draw.randrange(len(ledger.rectangles))
    old, shape = ledger.rectangles[number], draw.choice(choices[number])
    rows, columns = ledger.target.rows - shape.rows, ledger.target.columns - shape.columns
    new = Rectangle(draw.randint(max(0, min(rows, old.row - shape.rows + 1)), min(rows, old.row + old.rows - 1)),
                    draw.randint(max(0, min(columns, old.column - shape.columns + 1)),
                                 min(columns, old.column + old.columns - 1)), shape.rows, shape.columns)
    return {} if new == old else _pushed(ledger, board, number, new)


def _pushed(ledger: Ledger, board: _Board, number: int, new: Rectangle) -> dict[int, Rectangle]:
    """An operator at a new place, and those that stand there at the nearest free one; nothing where there is none."""
    others = board.others_in(new, number)
    if _DEAD in others or len(others) > LIMITS.most_pushed:
        return {}
    places = {number: new}
    if not others:
        return places
    free = board.free | board.cores(ledger.rectangles[number])
    for other in others:
        free |= board.cores(ledger.rectangles[other])
    free &= ~board.cores(new)
    for other in sorted(others, key=lambda n: (-ledger.rectangles[n].cores, n)):
        found = board.nearest(free, ledger.rectangles[other])
        if found is None:
            return {}
        places[other] = found
        free &= ~board.cores(found)
    return places


def _swap(ledger: Ledger, board: _Board, number: int, new: Rectangle, other: int) -> dict[int, Rectangle]:
    """An operator at a new place, and whose place that was at the old one, where both fit."""
    old, theirs = ledger.rectangles[number], ledger.rectangles[other]
    if (old.rows, old.columns) == (theirs.rows, theirs.columns):
        return {number: theirs, other: old}
    back = replace(theirs, row=old.row, column=old.column)
    if back.row + back.rows > ledger.target.rows or back.column + back.columns > ledger.target.columns:
        return {}
    if board.others_in(back, other) - {number} or _meet(back, new):
        return {}
    return {number: new, other: back}


def _meet(a: Rectangle, b: Rectangle) -> bool:
    return (a.row < b.row + b.rows and b.row < a.row + a.rows
            and a.column < b.column + b.columns and b.column < a.column + a.columns)


def _near(ledger: Ledger, number: int, draw: random.Random) -> Rectangle | None:
    """A place that touches an operator at the other end of a message."""
    touching = ledger.graph.touching[number]
    if not touching:
        return None
    source, sink = ledger.graph.ends[draw.choice(touching)]
    beside, own = ledger.rectangles[sink if source == number else source], ledger.rectangles[number]
    row = draw.randint(beside.row - own.rows, beside.row + beside.rows)
    column = draw.randint(beside.column - own.columns, beside.column + beside.columns)
    if not (0 <= row <= ledger.target.rows - own.rows and 0 <= column <= ledger.target.columns - own.columns):
        return None
    return replace(own, row=row, column=column)
