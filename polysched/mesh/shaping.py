"""Shapes that send less: of those that make no operator slower than the slowest one, whose messages cross fewest links.

The allocation asks for few cores and knows of no messages.  A broad rectangle hears a message cut by rows in every
column, a long one has few links at its short sides; so a shape as fast may load its busiest link half as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from polysched.mesh.bounds import least_hop_bytes, own_load, sides, whole_pieces_bound
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Shape, shape_of
from polysched.mesh.target import MeshTarget
from polysched.mesh.traffic import piece_sizes


def reshaped(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> list[tuple[int, tuple[Shape, ...]]]:
    """Other shapes, as fast as the slowest given one, with fewer bytes on links: a score before each, the best first.

    For each load that the busiest link may have, and each number of cores, the shapes that stay within it start with
    fewest cores; then one operator after the other takes the shape with which its messages travel least, and put no
    more than that load on a link at its own sides and its partners', where a piece is never split.  The score is a
    bound for these shapes.  Nothing is said of whether they can be packed.
    """
    choices = [[(s, own_load(graph, n, s, target)) for s in of_one]
               for n, of_one in enumerate(choices_as_fast(graph, shapes, target))]
    travel = _Travel(graph, target)
    found: dict[tuple[Shape, ...], None] = {}
    for level in _levels(choices, travel.largest(shapes)):
        within = [[s for s, load in of_one if load <= level] for of_one in choices]
        for budget in _budgets(within, target):
            found.setdefault(travel.descend(within, budget, level))
    scored = ((LIMITS.congestion_weight * travel.largest(chosen) + travel.of_all(chosen), chosen) for chosen in found)
    return sorted(scored, key=lambda s: s[0])


def choices_as_fast(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> list[list[Shape]]:
    """Per operator the shapes that are no slower than the slowest given one, and have not many more cores than its own.
    """
    slowest = max(s.seconds for s in shapes)
    return [_shapes_within(graph, n, slowest, LIMITS.reshaping_cores * given.cores + LIMITS.reshaping_more, target)
            for n, given in enumerate(shapes)]


def _levels(choices: Sequence[Sequence[tuple[Shape, int]]], most: int) -> list[int]:
    """Loads that are tried, of those of all shapes up to one; the lowest first."""
    every = sorted({load for of_one in choices for _, load in of_one if load <= most})
    return every[::max(1, -(-len(every) // LIMITS.reshaping_loads))]


def _budgets(choices: Sequence[Sequence[Shape]], target: MeshTarget) -> range:
    """Numbers of cores that are tried, down to the fewest that all operators need; none where one has no shape."""
    if not all(choices):
        return range(0)
    least = sum(min(s.cores for s in of_one) for of_one in choices)
    return range(target.live_cores, least - 1, -max(1, target.live_cores // LIMITS.reshaping_budgets))


def least_score(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> int:
    """A bound of the score with any shapes that fit and make no operator slower than the slowest given one.

    The most loaded link has at least the smallest load for which shapes within it have cores enough in all; every
    message travels least between some two shapes, of no more cores than the smallest ones of the others leave.
    """
    every = affordable(graph, max(s.seconds for s in shapes), target)
    loads = [[(own_load(graph, n, s, target), s.cores) for s in of_one] for n, of_one in enumerate(every)]
    levels = sorted({load for of_one in loads for load, _ in of_one})
    load = next(level for level in levels if _cores_within(loads, level) <= target.live_cores)
    hops = sum(min(least_hop_bytes(message, a, b, target) for a in every[source] for b in every[sink])
               for message, (source, sink) in zip(graph.messages, graph.ends, strict=True))
    return LIMITS.congestion_weight * max(load, -(-hops // max(1, target.live_links))) + hops


def affordable(graph: OperatorGraph, seconds: float, target: MeshTarget) -> list[list[Shape]]:
    """Per operator the shapes that take at most so long, and leave the fewest cores that the others need."""
    every = [_shapes_within(graph, n, seconds, target.live_cores, target) for n in range(len(graph.operators))]
    fewest = [min(s.cores for s in of_one) for of_one in every]
    spare = target.live_cores - sum(fewest)
    return [[s for s in of_one if s.cores <= own + spare] for of_one, own in zip(every, fewest, strict=True)]


def _cores_within(loads: Sequence[Sequence[tuple[int, int]]], level: int) -> float:
    """The fewest cores of all operators with which none has more than a load."""
    return sum(min((cores for load, cores in of_one if load <= level), default=math.inf) for of_one in loads)


def _shapes_within(graph: OperatorGraph, number: int, seconds: float, cores: float, target: MeshTarget) -> list[Shape]:
    """All shapes of an operator that fit, take at most so long, and have at most so many cores."""
    m, n = graph.operators[number].extents
    every = (shape_of(graph.operators[number], graph.inputs[number], target, h, w)
             for h in range(1, min(target.rows, m) + 1) for w in range(1, min(target.columns, n) + 1) if h * w <= cores)
    return [s for s in every if s.seconds <= seconds and s.memory <= target.memory]


class _Travel:
    """Least byte hops and least loads of shapes, each computed once."""

    def __init__(self, graph: OperatorGraph, target: MeshTarget) -> None:
        self.graph, self.target = graph, target
        self._known: dict[tuple[int, int, int, int, int], int] = {}
        self._loads: dict[tuple[int, ...], int] = {}
        ends = [graph.ends[m] for m in range(len(graph.messages))]
        self._leaving = [[m for m, (source, _) in enumerate(ends) if source == n] for n in range(len(graph.operators))]
        self._arriving = [[m for m, (_, sink) in enumerate(ends) if sink == n] for n in range(len(graph.operators))]
        self._near = [sorted({n, *(end for m in graph.touching[n] for end in ends[m])})
                      for n in range(len(graph.operators))]

    def of(self, message: int, source: Shape, sink: Shape) -> int:
        """Byte hops of one message."""
        key = (message, source.rows, source.columns, sink.rows, sink.columns)
        if key not in self._known:
            self._known[key] = least_hop_bytes(self.graph.messages[message], source, sink, self.target)
        return self._known[key]

    def of_all(self, shapes: Sequence[Shape]) -> int:
        """Byte hops of all messages."""
        return sum(self.of(m, shapes[source], shapes[sink]) for m, (source, sink) in enumerate(self.graph.ends))

    def load(self, number: int, shapes: Sequence[Shape]) -> int:
        """Bytes on the most loaded link for one operator's sake, of pieces that are never split."""
        ends, own = self.graph.ends, shapes[number]
        cores = [*(shapes[ends[m][1]].cores for m in self._leaving[number]),
                 *(shapes[ends[m][0]].cores for m in self._arriving[number])]
        key = (number, own.rows, own.columns, *cores)
        if key not in self._loads:
            links = sides(own, self.target)
            self._loads[key] = max(
                own_load(self.graph, number, own, self.target),
                *(whole_pieces_bound(np.concatenate([
                    np.zeros(0, np.int64), *(piece_sizes(self.graph.messages[m], *(shapes[n] for n in ends[m]))
                                             for m in messages)]), links)
                  for messages in (self._leaving[number], self._arriving[number])))
        return self._loads[key]

    def largest(self, shapes: Sequence[Shape]) -> int:
        """A bound of the load of the most loaded link."""
        alone = max(self.load(n, shapes) for n in range(len(shapes)))
        return max(alone, -(-self.of_all(shapes) // max(1, self.target.live_links)))

    def descend(self, choices: Sequence[Sequence[Shape]], cores: int, level: int) -> tuple[Shape, ...]:
        """From the fewest cores, one operator after the other to its best shape within so many, until none changes."""
        now = [min(of_one, key=lambda s: (s.cores, s.rows + s.columns, s.rows)) for of_one in choices]
        for _ in range(LIMITS.reshaping_rounds):
            before = list(now)
            for number, of_one in enumerate(choices):
                left = cores - sum(s.cores for s in now) + now[number].cores
                costs = self._of_operator(number, now, level)
                best = min((s for s in of_one if s.cores <= left), key=costs)
                if costs(best) < costs(now[number]):
                    now[number] = best
            if now == before:
                break
        return tuple(now)

    def _of_operator(self, number: int, now: Sequence[Shape], level: int) -> Callable[[Shape], int]:
        """What a shape of one operator costs: byte hops of its messages, and load beyond the level around it."""
        def costs(shape: Shape) -> int:
            tried = [*now[:number], shape, *now[number + 1:]]
            total = sum(self.of(m, tried[self.graph.ends[m][0]], tried[self.graph.ends[m][1]])
                        for m in self.graph.touching[number])
            return total + LIMITS.congestion_weight * sum(
                max(0, self.load(n, tried) - level) for n in self._near[number])
        return costs
