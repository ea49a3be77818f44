"""Covers of a graph by patterns: order, circles, what is left out."""

from __future__ import annotations

import pytest

from polysched.graph import from_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.limits import LIMITS
from polysched.graph.passes.simple import with_types
from polysched.graph.planning import cover as module
from polysched.graph.planning.cover import Circle, cover, groups_in_order, in_order
from polysched.graph.planning.patterns import Nodes, Pattern

GRAPH = with_types(from_text("""graph f(x: float32[4], y: float32[4]) {
  let a = Exp(x)
  let b = Exp(y)
  let c = Add(b, a)
  let d = Add(a, b)
  return c, d
}"""))


def pattern(nodes: Nodes, seconds: float, parts: tuple[Nodes, ...] = ()) -> Pattern:
    return Pattern(nodes=nodes, bytes_moved=0, seconds=seconds, parts=parts)


ALONE = [pattern((k,), 4e-6) for k in range(4)]
CROSSED = [pattern((0, 2), 1e-6), pattern((1, 3), 1e-6)]   # each needs the other: c needs b, d needs a


def test_patterns_that_need_each_other_are_found() -> None:
    circle = in_order(GRAPH, CROSSED)
    assert isinstance(circle, Circle)
    assert {p.nodes for p in circle.patterns} == {(0, 2), (1, 3)}


def test_a_cover_has_no_circle() -> None:
    found = cover(GRAPH, [*ALONE, *CROSSED])
    assert found is not None
    assert found.optimal
    taken = {p.nodes for p in found.patterns}
    assert len(taken & {(0, 2), (1, 3)}) == 1
    assert sum(p.seconds for p in found.patterns) == pytest.approx(9e-6)


def test_the_next_best_cover_is_another_one() -> None:
    patterns = [*ALONE, pattern((0, 2), 1e-6)]
    best = cover(GRAPH, patterns)
    assert best is not None
    other = cover(GRAPH, patterns, without=[best.patterns])
    assert other is not None
    assert {p.nodes for p in other.patterns} == {(0,), (1,), (2,), (3,)}
    assert cover(GRAPH, patterns, without=[best.patterns, other.patterns]) is None


def test_without_a_solution_of_the_solver_savings_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_solved", lambda model: (None, False, 0.5))
    found = cover(GRAPH, [*ALONE, *CROSSED, pattern((2, 3), 1e-6, ((2,), (3,)))])
    assert found is not None
    assert not found.optimal
    assert {p.nodes for p in found.patterns} == {(0,), (1,), (2,), (3,)}   # a and b are seen, and c is beside d
    assert LIMITS.most_circles > 1


def test_groups_follow_another_order_of_the_nodes() -> None:
    from polysched.graph.planning.partition import partition
    groups = partition(GRAPH, infer(GRAPH))
    other = GRAPH.but(nodes=tuple(GRAPH.nodes[k] for k in (1, 0, 3, 2)))
    assert [g.last.outputs for g in groups_in_order(other, groups)] == [("b",), ("a",), ("d",), ("c",)]
