"""CP-SAT against all placements of a small graph; bounds within a budget."""

import itertools

import pytest

from polysched.errors import UsageError
from polysched.mesh import MeshTarget, PlaceOptions, Rectangle, place, verify
from polysched.mesh.cost import Ledger
from polysched.mesh.exact import fewest_hop_bytes
from polysched.mesh.packing import greedy
from polysched.mesh.shapes import Shape
from tests.mesh.random_graphs import random_graph


def all_placements(shapes, target):
    places = [[Rectangle(r, c, s.rows, s.columns) for r in range(target.rows - s.rows + 1)
               for c in range(target.columns - s.columns + 1)] for s in shapes]
    for chosen in itertools.product(*places):
        cores = [(r, c) for p in chosen for r in range(p.row, p.row + p.rows) for c in
                 range(p.column, p.column + p.columns)]
        if len(set(cores)) == len(cores):
            yield chosen


@pytest.mark.parametrize("sides", [((1, 1), (1, 1), (1, 1)), ((2, 1), (1, 2), (1, 1)), ((2, 2), (1, 3), (1, 1))])
def test_it_has_the_fewest_byte_hops_of_all_placements_on_3x3(sides) -> None:
    target, graph = MeshTarget(rows=3, columns=3), random_graph(6, 3)
    shapes = [Shape(r, c, 0.0, 0) for r, c in sides]
    first = greedy(graph, shapes, target)
    assert first is not None
    solved = fewest_hop_bytes(graph, shapes, target, first)
    best = min(Ledger(graph, target, chosen).hop_bytes for chosen in all_placements(shapes, target))
    assert solved.proved
    assert solved.rectangles is not None
    assert solved.bound == Ledger(graph, target, solved.rectangles).hop_bytes == best


def test_a_placement_has_what_was_proved_as_its_bound() -> None:
    placement = place(random_graph(1, 5, single=True), MeshTarget(rows=3, columns=3, dead=((1, 1),)),
                      PlaceOptions(method="exact"))
    verify(placement)
    assert any("CP-SAT" in note for note in placement.notes)


def test_a_small_budget_still_bounds() -> None:
    target, graph = MeshTarget(rows=4, columns=4), random_graph(2, 12, single=True)
    shapes = [Shape(1, 1, 0.0, 0)] * 12
    first = greedy(graph, shapes, target)
    assert first is not None
    solved = fewest_hop_bytes(graph, shapes, target, first, budget=0.05)
    assert not solved.proved
    assert 0 < solved.bound <= Ledger(graph, target, first).hop_bytes


def test_larger_meshes_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 64 cores"):
        fewest_hop_bytes(random_graph(1, 2), [], MeshTarget(rows=8, columns=9), [])
