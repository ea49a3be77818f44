"""The walk finds what is wrong: loads, rectangles, routes."""

from dataclasses import replace

import pytest

from polysched.errors import PlacementError
from polysched.mesh import (
    MeshTarget,
    Message,
    Operator,
    OperatorGraph,
    PlaceOptions,
    Rectangle,
    Route,
    place,
    verify,
    walk,
)
from tests.mesh.random_graphs import random_graph

GOOD = place(random_graph(5, 6), MeshTarget(rows=4, columns=4, dead=((2, 2),)), PlaceOptions(method="greedy"))


def test_a_walk_by_hand() -> None:
    graph = OperatorGraph(name="g", operators=(Operator(name="a", work=1), Operator(name="b", work=1)),
                          messages=(Message(source="a", sink="b", bytes=3),))
    placement = place(graph, MeshTarget(rows=1, columns=2))
    first, second = ((r.row, r.column) for r in placement.rectangles)
    assert walk(placement) == {(first, second): 3}


def test_wrong_loads_are_found() -> None:
    loads = GOOD.loads.copy()
    loads[0, 0, 0] += 1
    verify(GOOD)
    with pytest.raises(PlacementError, match=r"link \(0, 0\) to \(0, 1\)"):
        verify(replace(GOOD, loads=loads))


@pytest.mark.parametrize(("place_of_first", "said"), [((-1, 0), "outside"), ((2, 2), "dead"), (None, "is o1's")])
def test_wrong_rectangles_are_found(place_of_first, said) -> None:
    row, column = place_of_first or (GOOD.rectangles[1].row, GOOD.rectangles[1].column)
    moved = (*GOOD.rectangles[:1], Rectangle(row, column, 1, 1), *GOOD.rectangles[2:])
    if place_of_first is None:
        moved = (Rectangle(row, column, 1, 1), *GOOD.rectangles[1:])
        said = "is o0's"
    with pytest.raises(PlacementError, match=said):
        walk(replace(GOOD, rectangles=moved))


@pytest.mark.parametrize(("way", "said"), [
    (((0, 0), (0, 2)), "not a way"), (((0, 0), (-1, 0), (-1, 1), (-1, 2), (0, 2)), "leaves"),
    (((0, 0), (1, 0), (1, 1), (1, 2), (0, 2)), "leaves")])
def test_wrong_routes_are_found(way, said) -> None:
    graph = OperatorGraph(name="g", operators=(Operator(name="a", work=1), Operator(name="b", work=1)),
                          messages=(Message(source="a", sink="b", bytes=3),))
    placed = place(graph, MeshTarget(rows=2, columns=3, dead=((1, 1),)), PlaceOptions(method="greedy"))
    wrong = replace(placed, rectangles=(Rectangle(0, 0, 1, 1), Rectangle(0, 2, 1, 1)), routes=(Route("xy", (way,)),))
    with pytest.raises(PlacementError, match=said):
        walk(wrong)


def test_a_straight_route_over_a_dead_core_is_found() -> None:
    graph = OperatorGraph(name="g", operators=(Operator(name="a", work=1), Operator(name="b", work=1)),
                          messages=(Message(source="a", sink="b", bytes=3),))
    placed = place(graph, MeshTarget(rows=2, columns=3, dead=((0, 1),)), PlaceOptions(method="greedy"))
    wrong = replace(placed, rectangles=(Rectangle(0, 0, 1, 1), Rectangle(0, 2, 1, 1)), routes=(Route("xy"),))
    with pytest.raises(PlacementError, match="leaves the cores"):
        walk(wrong)
