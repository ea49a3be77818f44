"""Shapes that send less: of those that make no operator slower than the slowest one, whose messages cross fewest links.

The allocation asks for few cores and knows of no messages.  A broad rectangle hears a message cut by rows in every
column, a long one has few links at its short sides; so a shape as fast may load its busiest link half as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from polysched.mesh.bounds import least_hop_bytes, own_load
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import OperatorGraph
from polysched.mesh.shapes import Shape, shape_of
from polysched.mesh.target import MeshTarget


def reshaped(graph: OperatorGraph, shapes: Sequence[Shape], target: MeshTarget) -> list[tuple[int, tuple[Shape, ...]]]:
    """Other shapes, as fast as the slowest given one, with fewer bytes on links: a score before each, the best first.

    For each load that the busiest link may have, and each number of cores, the shapes that stay within it start with
    fewest cores; then one operator after the other takes the shape with which its messages travel least.  The score is
    that load's and that of messages alone.  Nothing is said of whether they can be packed.
    """
    slowest = max(s.seconds for s in shapes)
    choices = [[(s, own_load(graph, n, s, target)) for s in
                _shapes_within(graph, n, slowest, LIMITS.reshaping_cores * given.cores, target)]
               for n, given in enumerate(shapes)]
    travel = _Travel(graph, target)
    found: dict[tuple[Shape, ...], int] = {}
    for level in _levels(choices, max(own_load(graph, n, s, target) for n, s in enumerate(shapes))):
        within = [[s for s, load in of_one if load <= level] for of_one in choices]
        for budget in _budgets(within, target):
            found.setdefault(travel.descend(within, budget), level)
    scored = ((LIMITS.congestion_weight * level + travel.of_all(chosen), chosen) for chosen, level in found.items())
    return sorted(scored, key=lambda s: s[0])


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
    every = _affordable(graph, max(s.seconds for s in shapes), target)
    loads = [[(own_load(graph, n, s, target), s.cores) for s in of_one] for n, of_one in enumerate(every)]
    levels = sorted({load for of_one in loads for load, _ in of_one})
    load = next(level for level in levels if _cores_within(loads, level) <= target.live_cores)
    hops = sum(min(least_hop_bytes(message, a, b, target) for a in every[source] for b in every[sink])
               for message, (source, sink) in zip(graph.messages, graph.ends, strict=True))
    return LIMITS.congestion_weight * max(load, -(-hops // max(1, target.live_links))) + hops


def _affordable(graph: OperatorGraph, seconds: float, target: MeshTarget) -> list[list[Shape]]:
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
    """Least byte hops between shapes, each pair computed once."""

    def __init__(self, graph: OperatorGraph, target: MeshTarget) -> None:
        self.graph, self.target = graph, target
        self._known: dict[tuple[int, int, int, int, int], int] = {}

    def of(self, message: int, source: Shape, sink: Shape) -> int:
        """Of one message."""
        key = (message, source.rows, source.columns, sink.rows, sink.columns)
        if key not in self._known:
            self._known[key] = least_hop_bytes(self.graph.messages[message], source, sink, self.target)
        return self._known[key]

    def of_all(self, shapes: Sequence[Shape]) -> int:
        """Of all messages."""
        return sum(self.of(m, shapes[source], shapes[sink]) for m, (source, sink) in enumerate(self.graph.ends))

    def descend(self, choices: Sequence[Sequence[Shape]], cores: int) -> tuple[Shape, ...]:
        """From the fewest cores, one operator after the other to its best shape within so many, until none changes."""
        now = [min(of_one, key=lambda s: (s.cores, s.rows + s.columns, s.rows)) for of_one in choices]
        for _ in range(LIMITS.reshaping_rounds):
            before = list(now)
            for number, of_one in enumerate(choices):
                left = cores - sum(s.cores for s in now) + now[number].cores
                travels = self._of_operator(number, now)
                best = min((s for s in of_one if s.cores <= left), key=travels)
                if travels(best) < travels(now[number]):
                    now[number] = best
            if now == before:
                break
        return tuple(now)

    def _of_operator(self, number: int, now: Sequence[Shape]) -> Callable[[Shape], int]:
        def travels(shape: Shape) -> int:
            total = 0
            for message in self.graph.touching[number]:
                source, sink = self.graph.ends[message]
                total += self.of(message, shape if source == number else now[source],
                                 shape if sink == number else now[sink])
            return total
        return travels
