"""Simulated annealing over positions, with incremental costs and a fixed seed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from polysched.mesh.cost import Ledger
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Rectangle
from polysched.mesh.target import MeshTarget


def anneal(graph: OperatorGraph, target: MeshTarget, rectangles: Sequence[Rectangle], *, seed: int = 0,
           moves: int | None = None) -> tuple[Rectangle, ...]:
    """The best placement that moves and swaps of rectangles come to; never one that is worse than the first.

    Parameters
    ----------
    rectangles : to begin with, which share no core.
    seed : of the random moves; the same one gives the same placement.
    moves : to try; None for `LIMITS.moves_per_operator` per operator, `LIMITS.most_moves` at most.
    """
    count = min(LIMITS.most_moves, LIMITS.moves_per_operator * len(rectangles)) if moves is None else moves
    ledger, draw = Ledger(graph, target, rectangles), random.Random(seed)
    board = _Board(target, rectangles)
    score = best = ledger.score
    kept = tuple(rectangles)
    first = score
    for step in range(count if first else 0):
        temperature = first * LIMITS.hot_share * (LIMITS.cold_share / LIMITS.hot_share) ** (step / count)
        places = _proposal(ledger, board, draw)
        if not places:
            continue
        undo = ledger.move(places)
        after = ledger.score
        if after <= score or draw.random() < math.exp((score - after) / temperature):
            board.move(undo.rectangles, places)
            score = after
            if score < best:
                best, kept = score, tuple(ledger.rectangles)
        else:
            ledger.undo(undo)
    return kept


class _Board:
    """Which operator has which core: -1 for none, -2 for a dead core."""

    def __init__(self, target: MeshTarget, rectangles: Sequence[Rectangle]) -> None:
        self.owners = np.where(target.alive, -1, -2)
        for number, rectangle in enumerate(rectangles):
            self.owners[rectangle.slices] = number

    def move(self, before: Mapping[int, Rectangle], after: Mapping[int, Rectangle]) -> None:
        for rectangle in before.values():
            self.owners[rectangle.slices] = -1
        for number, rectangle in after.items():
            self.owners[rectangle.slices] = number

    def others_in(self, rectangle: Rectangle, number: int) -> set[int]:
        """Who has cores of a rectangle beside an operator itself."""
        found = set(self.owners[rectangle.slices].ravel().tolist())
        return found - {-1, number}


def _proposal(ledger: Ledger, board: _Board, draw: random.Random) -> dict[int, Rectangle]:
    """New places of one or two operators; none where the drawn ones meet something."""
    number = draw.randrange(len(ledger.rectangles))
    old = ledger.rectangles[number]
    new = _near(ledger, number, draw) if draw.random() < LIMITS.near_share else None
    if new is None:
        new = replace(old, row=draw.randrange(ledger.target.rows - old.rows + 1),
                      column=draw.randrange(ledger.target.columns - old.columns + 1))
    others = board.others_in(new, number)
    if new == old or -2 in others or len(others) > 1:
        return {}
    if not others:
        return {number: new}
    return _swap(ledger, board, number, new, others.pop())


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
