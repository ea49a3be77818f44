"""The rectangles that an operator may have: a Pareto front of cores, memory and time from a stated model.

On `h x w` cores a core makes at most `ceil(M / h)` rows and `ceil(N / w)` columns of the `M x N` result.  Its time is
that share of the work over the speed of a core.  Its memory is that share of the result, its columns of the weights,
and `LIMITS.buffers` times what it needs of each input.
"""

from __future__ import annotations

from collections.abc import Sequence

from polysched.errors import PlacementError
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import Message, Operator, OperatorGraph
from polysched.mesh.target import MeshTarget
from polysched.records import dataclass


@dataclass(frozen=True, order=True)
class Shape:
    """A rectangle of cores for an operator, without its position.

    Parameters
    ----------
    rows, columns : of cores.
    seconds : of computing one item.
    memory : bytes of the core that needs most.
    """

    rows: int
    columns: int
    seconds: float
    memory: int

    @property
    def cores(self) -> int:
        """How many cores it has."""
        return self.rows * self.columns

    @property
    def text(self) -> str:
        """Its rows and columns."""
        return f"{self.rows}x{self.columns}"


@dataclass(frozen=True, order=True)
class Rectangle:
    """Cores of an operator.

    Parameters
    ----------
    row, column : of its first core.
    rows, columns : of cores.
    """

    row: int
    column: int
    rows: int
    columns: int

    @property
    def cores(self) -> int:
        """How many cores it has."""
        return self.rows * self.columns

    @property
    def slices(self) -> tuple[slice, slice]:
        """Its part of an array of shape (rows, columns) of the mesh."""
        return slice(self.row, self.row + self.rows), slice(self.column, self.column + self.columns)


def shape_of(operator: Operator, inputs: Sequence[Message], target: MeshTarget, rows: int, columns: int) -> Shape:
    """What an operator takes on a rectangle.

    Parameters
    ----------
    inputs : the messages that it gets.
    rows, columns : at most its extents.
    """
    m, n = operator.extents
    own_rows, own_columns = -(-m // rows), -(-n // columns)
    held = {"rows": (own_rows, m), "columns": (own_columns, n), "cells": (own_rows * own_columns, m * n)}
    memory = _part(operator.weights, held["columns"]) + _part(operator.result, held["cells"])
    memory += LIMITS.buffers * sum(_part(i.bytes, held[i.cut]) for i in inputs)
    seconds = operator.work * own_rows * own_columns / (m * n) / target.compute
    return Shape(rows, columns, seconds, memory)


def _part(size: int, share: tuple[int, int]) -> int:
    return -(-size * share[0] // share[1])


def front(operator: Operator, inputs: Sequence[Message], target: MeshTarget) -> tuple[Shape, ...]:
    """The shapes that fit and that no other one beats in cores, memory and time, the one with fewest cores first.

    Of shapes that are equal in all three, the one nearest to a square is kept.

    Raises
    ------
    PlacementError : the operator fits onto no rectangle of the mesh.
    """
    m, n = operator.extents
    every = [shape_of(operator, inputs, target, h, w) for h in range(1, min(target.rows, m) + 1)
             for w in range(1, min(target.columns, n) + 1)]
    fitting = [s for s in every if s.memory <= target.memory]
    if not fitting:
        least = min(every, key=lambda s: s.memory)
        raise PlacementError("an operator fits onto no rectangle of the mesh", where=f"operator {operator.name}",
                             witness=f"on {least.text} cores each needs {least.memory} bytes of {target.memory}",
                             hint="a core with more memory, more cores, or a smaller batch")
    fitting.sort(key=lambda s: (s.cores, s.seconds, s.memory, s.rows + s.columns, s.rows))
    kept: list[Shape] = []
    for shape in fitting:
        if not any(k.seconds <= shape.seconds and k.memory <= shape.memory for k in kept):
            kept.append(shape)
    return tuple(kept)


def fronts(graph: OperatorGraph, target: MeshTarget) -> tuple[tuple[Shape, ...], ...]:
    """The front of every operator."""
    return tuple(front(o, i, target) for o, i in zip(graph.operators, graph.inputs, strict=True))


def allocate(choices: Sequence[Sequence[Shape]], cores: int) -> tuple[Shape, ...] | None:
    """A shape of each operator, so that the slowest one is as fast as so many cores in all allow.

    Each operator gets the fewest cores with which it is no slower than that.  None where even the smallest shapes
    take more cores.  Nothing is said of whether the rectangles can be packed, so that the slowest time is a bound.
    """
    times = sorted({s.seconds for front_ in choices for s in front_})
    least, most = 0, len(times)
    while least < most:
        middle = (least + most) // 2
        chosen = _within(choices, times[middle])
        if chosen is not None and sum(s.cores for s in chosen) <= cores:
            most = middle
        else:
            least = middle + 1
    return _within(choices, times[least]) if least < len(times) else None


def _within(choices: Sequence[Sequence[Shape]], seconds: float) -> tuple[Shape, ...] | None:
    """The smallest shapes that take at most so long."""
    chosen = [next((s for s in front_ if s.seconds <= seconds), None) for front_ in choices]
    found = tuple(s for s in chosen if s is not None)
    return found if len(found) == len(chosen) else None
