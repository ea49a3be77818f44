"""Which statements have moved, against all pairs of instances at a small size."""

from __future__ import annotations

import itertools

import pytest

from polysched.dependence import analyse
from polysched.scheduling import steps
from polysched.scheduling.primitives import Interchange, Parallel, Reverse, Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.moved import moved_statements
from polysched.scop.points import instances_in_order
from tests.scop_builder import build_scop


def program() -> Schedule:
    """S0 and S1 in one nest, S2 in a nest of its own; no dependence."""
    scop = build_scop([("S0", "{ S0[i, j] : 0 <= i < N and 0 <= j < N }", [], ["{ S0[i, j] -> A[i, j] }"]),
                       ("S1", "{ S1[i, j] : 0 <= i < N and 0 <= j < N }", [], ["{ S1[i, j] -> B[i, j] }"]),
                       ("S2", "{ S2[i] : 0 <= i < N }", [], ["{ S2[i] -> D[i] }"])],
                      "{ S0[i, j] -> [0, i, j, 0]; S1[i, j] -> [0, i, j, 1]; S2[i] -> [1, i, 0, 0] }",
                      context="{ : N >= 4 }")
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def moved_by_hand(before: Schedule, after: Schedule) -> set[str]:
    """By listing the instances: total orders only."""
    places = []
    for schedule in (before, after):
        order = instances_in_order(schedule.scop.domain, schedule.tree, {"N": 4}, ["S0", "S1", "S2"])
        places.append({instance: at for at, instance in enumerate(order)})
    return {name for x, y in itertools.combinations(places[0], 2)
            if (places[0][x] < places[0][y]) != (places[1][x] < places[1][y]) for name in (x[0], y[0])}


@pytest.mark.parametrize(("done", "expected"), [
    ((), ()),
    ((Parallel(loop=0),), ()),
    ((Skew(loop=2, by=1, factor=2),), ()),
    ((Interchange(outer=1, inner=2),), ("S0", "S1")),
    ((Tile(loops=(1, 2), sizes=(2, 2)),), ("S0", "S1")),
    ((Reverse(loop=0),), ("S0", "S1", "S2")),
])
def test_moved_statements_are_those_with_a_changed_pair(done, expected):
    before = program()
    after = steps.apply(before, *done)
    assert moved_statements(before.scop, before.tree, after.tree) == expected
    assert moved_by_hand(before, after) == set(expected)
