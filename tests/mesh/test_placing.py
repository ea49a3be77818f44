"""Placements of random graphs: walked again, with bounds; refusals."""

from dataclasses import replace

import pytest

from polysched.errors import PlacementError, UsageError
from polysched.mesh import MeshTarget, Message, Operator, OperatorGraph, PlaceOptions, chain, place, verify
from polysched.mesh.shapes import fronts, shape_of
from tests.mesh.random_graphs import random_graph

CHAINED = chain("c", [Operator(name=n, work=8, extents=(4, 4), weights=w) for n, w in (("a", 64), ("b", 0))])


@pytest.mark.parametrize("target", [MeshTarget(rows=5, columns=7),
                                    MeshTarget(rows=4, columns=4, dead=((1, 2),))])
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
    shapes = place(graph, target, PlaceOptions(reshape=False)).shapes
    again = place(graph, target, PlaceOptions(method="greedy", shapes=shapes))
    assert again.shapes == shapes
    with pytest.raises(UsageError, match="a shape of each operator"):
        place(graph, target, PlaceOptions(shapes=shapes[:2]))


@pytest.mark.parametrize("wrong", [{"seconds": 0.0}, {"memory": 1}, {"rows": 0}, {"rows": 5, "columns": 1}])
def test_a_given_shape_is_one_of_its_operator(wrong) -> None:
    graph, target = CHAINED, MeshTarget(rows=6, columns=6)
    shapes = [front[-1] for front in fronts(graph, target)]
    with pytest.raises(UsageError, match="operator a: a given shape is none of its operator"):
        place(graph, target, PlaceOptions(shapes=(replace(shapes[0], **wrong), *shapes[1:])))
    small = MeshTarget(rows=6, columns=6, memory=shapes[0].memory - 1)
    assert shapes[0].memory == max(s.memory for s in shapes)
    with pytest.raises(UsageError, match="has too little memory"):
        place(graph, small, PlaceOptions(shapes=tuple(shapes)))


def test_a_given_shape_may_be_the_only_one_with_cores() -> None:
    rows = tuple((r, c) for r in (0, 2) for c in range(4))     # dead: nothing has two rows
    target = MeshTarget(rows=4, columns=4, memory=64, dead=rows)
    graph = OperatorGraph(name="g", operators=(Operator(name="a", work=8, extents=(4, 4), result=256),))
    shape = shape_of(graph.operators[0], (), target, 1, 4)
    placement = place(graph, target, PlaceOptions(shapes=(shape,)))
    verify(placement)
    assert placement.figures["layer_by_layer"].value == shape.seconds


def test_too_many_operators_are_refused() -> None:
    with pytest.raises(PlacementError, match="need 9 cores, and 8 live"):
        place(random_graph(1, 9, single=True), MeshTarget(rows=3, columns=3, dead=((0, 0),)))


def test_what_cannot_be_packed_is_refused() -> None:
    wide = tuple(Operator(name=n, work=1, extents=(1, 2), weights=10) for n in "ab")
    with pytest.raises(PlacementError, match="no packing"):
        place(OperatorGraph(name="g", operators=wide), MeshTarget(rows=3, columns=2, memory=6, dead=((1, 1), (2, 1))))


@pytest.mark.parametrize("method", ["anneal", "exact", "greedy", "row-major"])
def test_cores_that_dead_ones_cut_off_are_not_used(method) -> None:
    corner = MeshTarget(rows=4, columns=4, dead=((0, 1), (1, 0), (3, 3)))
    placement = place(random_graph(3, 5, single=True), corner, PlaceOptions(method=method))
    verify(placement)
    assert all((r.row, r.column) != (0, 0) for r in placement.rectangles)
    assert "dead cores cut off 1 core, used by nothing" in placement.notes
    assert placement.target == corner
    halves = MeshTarget(rows=2, columns=5, dead=((0, 2), (1, 2)))
    with pytest.raises(PlacementError, match="need 5 cores, and 4 of the 8 that live can reach each other"):
        place(random_graph(3, 5, single=True), halves, PlaceOptions(method=method))


@pytest.mark.parametrize("options", [{"method": "magic"}, {"routing": "zigzag"}])
def test_an_unknown_choice_is_refused(options) -> None:
    with pytest.raises(UsageError, match="is one of"):
        PlaceOptions(**options)


@pytest.mark.parametrize("method", ["anneal", "exact"])
def test_what_no_packer_packs_is_packed_in_another_order(method) -> None:
    target, sides = MeshTarget(rows=3, columns=3), ((1, 2), (2, 1), (1, 1), (3, 1))
    graph = OperatorGraph(name="tight", messages=tuple(
        Message(source="o0", sink=f"o{n}", bytes=8) for n in (1, 2, 3)), operators=tuple(
        Operator(name=f"o{n}", work=1.0, extents=side) for n, side in enumerate(sides)))
    shapes = tuple(shape_of(o, i, target, *o.extents)
                   for o, i in zip(graph.operators, graph.inputs, strict=True))
    placement = place(graph, target, PlaceOptions(method=method, shapes=shapes))
    verify(placement)
    assert placement.shapes == shapes
    assert "packed tightly" in placement.notes[0]
