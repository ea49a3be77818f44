"""Placements of random graphs: walked again, with bounds; refusals."""

import pytest

from polysched.errors import PlacementError, UsageError
from polysched.mesh import MeshTarget, Operator, OperatorGraph, PlaceOptions, place, verify
from tests.mesh.random_graphs import random_graph


@pytest.mark.parametrize("target", [MeshTarget(rows=5, columns=7),
                                    MeshTarget(rows=6, columns=6, dead=((1, 2), (4, 4)))])
@pytest.mark.parametrize("routing", ["xy", "adaptive"])
@pytest.mark.parametrize("method", ["greedy", "row-major", "anneal"])
def test_every_method_survives_the_walk(target, routing, method) -> None:
    placement = place(random_graph(7, 5), target, PlaceOptions(method=method, routing=routing))
    verify(placement)
    assert placement.used_cores <= target.live_cores
    assert placement.figures["interval"].value >= max(s.seconds for s in placement.shapes)
    assert placement.loads.sum() == placement.figures["hop_bytes"].value


def test_annealing_is_never_worse_than_greedy_with_the_same_shapes() -> None:
    graph, target = random_graph(1, 8, single=True), MeshTarget(rows=3, columns=3)
    scores = [place(graph, target, PlaceOptions(method=m, routing="xy")).figures["score"].value
              for m in ("anneal", "greedy")]
    assert scores[0] <= scores[1]


def test_shapes_may_be_given() -> None:
    graph, target = random_graph(3, 5), MeshTarget(rows=6, columns=6)
    shapes = place(graph, target).shapes
    again = place(graph, target, PlaceOptions(method="greedy", shapes=shapes))
    assert again.shapes == shapes
    with pytest.raises(UsageError, match="a shape of each operator"):
        place(graph, target, PlaceOptions(shapes=shapes[:2]))


def test_too_many_operators_are_refused() -> None:
    with pytest.raises(PlacementError, match="need 9 cores, and 8 live"):
        place(random_graph(1, 9, single=True), MeshTarget(rows=3, columns=3, dead=((0, 0),)))


def test_what_cannot_be_packed_is_refused() -> None:
    wide = tuple(Operator(name=n, work=1, extents=(1, 2), weights=10) for n in "ab")
    with pytest.raises(PlacementError, match="no packing"):
        place(OperatorGraph(name="g", operators=wide), MeshTarget(rows=2, columns=3, memory=6, dead=((0, 1), (1, 1))))


@pytest.mark.parametrize("options", [{"method": "magic"}, {"routing": "zigzag"}])
def test_an_unknown_choice_is_refused(options) -> None:
    with pytest.raises(UsageError, match="is one of"):
        PlaceOptions(**options)
