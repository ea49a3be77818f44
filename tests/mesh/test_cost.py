"""A ledger after moves, turns and undoing holds what a new one holds."""

import random

import pytest

from polysched.mesh import MeshTarget, Rectangle
from polysched.mesh.cost import Ledger, as_array, scored, turn_routes
from polysched.mesh.packing import greedy
from polysched.mesh.shapes import allocate, fronts
from tests.mesh.random_graphs import random_graph

MESH = MeshTarget(rows=6, columns=6)


def begun(seed: int, target: MeshTarget = MESH) -> Ledger:
    graph = random_graph(seed, 8)
    shapes = allocate(fronts(graph, target), 20)
    assert shapes is not None
    rectangles = greedy(graph, shapes, target)
    assert rectangles is not None
    return Ledger(graph, target, rectangles)


@pytest.mark.parametrize("target", [MESH, MeshTarget(rows=6, columns=6, dead=((2, 2), (3, 4)))])
def test_changes_and_undoing_leave_the_loads_right(target) -> None:
    ledger, draw = begun(1, target), random.Random(1)
    for _ in range(60):
        before = ledger.score, ledger.loads.copy(), tuple(ledger.rectangles)
        if draw.random() < 0.5:
            undo = ledger.turn(draw.randrange(len(ledger.flows)), draw.choice(["xy", "yx"]))
        else:
            a = draw.randrange(8)
            old = ledger.rectangles[a]
            new = Rectangle(draw.randrange(7 - old.rows), draw.randrange(7 - old.columns), old.rows, old.columns)
            if not target.alive[new.slices].all():
                continue
            undo = ledger.move({a: new})
        if draw.random() < 0.5:
            ledger.undo(undo)
            assert (ledger.score, tuple(ledger.rectangles)) == (before[0], before[2])
            assert (ledger.loads == before[1]).all()
    fresh = Ledger(ledger.graph, target, ledger.rectangles)
    for message, order in enumerate(ledger.orders):
        fresh.turn(message, order)
    assert (fresh.loads == ledger.loads).all()
    assert fresh.hop_bytes == ledger.hop_bytes == ledger.loads.sum()


def test_turning_only_helps() -> None:
    for seed in range(4):
        ledger = begun(seed)
        before = ledger.score
        assert before == scored(ledger.graph, MESH, ledger.rectangles)
        turned = turn_routes(ledger)
        assert ledger.score <= before
        assert turned == ledger.orders.count("yx")


def test_loads_by_number_are_those_by_core() -> None:
    ledger = begun(2)
    loads = as_array(ledger.loads, MESH)
    assert loads.shape == (4, 6, 6)
    assert loads[2, 3, 1] == ledger.loads[(2 * 6 + 3) * 6 + 1]
