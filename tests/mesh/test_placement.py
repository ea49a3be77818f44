"""What a placement says of itself."""

import json

from polysched.mesh import Figure, MeshTarget, PlaceOptions, place
from tests.mesh.random_graphs import random_graph

PLACEMENT = place(random_graph(1, 6), MeshTarget(rows=4, columns=4, dead=((1, 1),)), PlaceOptions(method="greedy"))


def test_json_holds_all_of_it() -> None:
    value = json.loads(json.dumps(PLACEMENT.to_json(), allow_nan=False))
    assert [o["name"] for o in value["operators"]] == [o.name for o in PLACEMENT.graph.operators]
    assert value["loads"]["south"] == PLACEMENT.loads[2].tolist()
    assert set(value["figures"]["interval"]) >= {"value", "bound", "ratio", "unit", "holds", "why"}
    assert value["target"]["dead"] == [[1, 1]]


def test_text_and_one_line() -> None:
    assert len(repr(PLACEMENT)) <= 300
    text = str(PLACEMENT)
    for figure in PLACEMENT.figures.values():
        assert str(figure) in text
        assert "(bound " in str(figure)
    assert "image/svg+xml" in PLACEMENT._repr_html_()


def test_owners_are_the_rectangles() -> None:
    assert PLACEMENT.owners[1, 1] == -1
    assert (PLACEMENT.owners >= 0).sum() == PLACEMENT.used_cores
    first = PLACEMENT.rectangle_of("o0")
    assert (PLACEMENT.owners[first.slices] == 0).all()


def test_a_bound_of_nothing_has_no_ratio() -> None:
    figure = Figure(name="x", unit="B", value=3, bound=0, holds="any placement", why="nothing is sent")
    assert figure.ratio is None
    assert "of it" not in str(figure)
