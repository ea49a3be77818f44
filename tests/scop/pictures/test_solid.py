"""Solids: the projection, what is drawn in which order, and the data that the page turns."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from polysched.errors import UsageError
from polysched.scop.picture import Turn
from polysched.scop.pictures.solid import Solid, View, frame, projected

SVG = "{http://www.w3.org/2000/svg}"
FACE = ((-0.5, -0.5, 0.0), (1.5, -0.5, 0.0), (1.5, 0.5, 0.0))
SOLID = Solid(title="S0", axes=("j", "i", "t"), points=((0, 0, 0), (1, 0, 0), (0, 0, 1)),
              arrows=(((0, 0, 0), (0, 0, 1)), ((1, 0, 0), (0, 0, 1))), drawn_arrows=(((0, 0, 0), (0, 0, 1)),),
              tiles={(0, 0, 0): 0, (1, 0, 0): 0, (0, 0, 1): 1}, bodies={0: (FACE,)},
              turns={0: Turn(0), 1: Turn(1)}, order="earliest")


def test_the_projection_keeps_lengths_in_the_plane_of_the_reader() -> None:
    assert projected((3.0, 0.0, 0.0), 0, 0) == pytest.approx((3, 0, 0))
    assert projected((0.0, 0.0, 2.0), 50, 0) == pytest.approx((0, 2, 0))
    assert projected((0.0, 5.0, 0.0), 0, 0) == pytest.approx((0, 0, -5)), "to the back is away from the reader"
    assert sum(x * x for x in projected((1.0, 2.0, 3.0), 33, 21)) == pytest.approx(14)


def test_a_view_holds_every_dot_and_the_axes() -> None:
    root = ElementTree.fromstring(SOLID.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    dots = root.findall(f".//{SVG}circle")
    assert len(dots) == 3
    assert all(0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height for dot in dots)
    assert {"j", "i", "t"} <= {text.text for text in root.iter(f"{SVG}text")}
    assert len([part for part in root.iter() if part.get("data-from")]) == 1
    assert SOLID.seen_from(90, 10).svg != SOLID.svg


@pytest.mark.parametrize(("azimuth", "elevation"), [(32, 24), (-148, 24), (100, -30), (0, 90), (-70, 5)])
def test_no_dot_lies_beyond_the_axes(azimuth: float, elevation: float) -> None:
    """Each axis is at the rim of the view: all dots are on one side of its line."""
    points = tuple((x, y, z) for x in range(4) for y in range(3) for z in range(5))
    view = View(Solid(title="S", axes=("j", "i", "t"), points=points, azimuth=azimuth, elevation=elevation))
    for axis, (start, end) in enumerate(view.axes):
        assert [a != b for a, b in zip(start, end, strict=True)] == [d == axis for d in range(3)]
        (x1, y1), (x2, y2) = view.at(start), view.at(end)
        sides = [(x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) for x, y in map(view.at, points)]
        assert all(side > -1e-9 for side in sides) or all(side < 1e-9 for side in sides)


def test_far_faces_come_first() -> None:
    back = tuple((x, y + 9, z) for x, y, z in FACE)
    view = View(Solid(title="S", axes=("j", "i", "t"), points=((0, 0, 0),), bodies={0: (FACE,), 1: (back,)}))
    assert [tile for tile, _ in view.faces()] == [1, 0]


def test_the_page_has_all_arrows_and_says_which_are_drawn() -> None:
    found = re.search(r"const data = (.*);\n", SOLID.page)
    assert found
    scene = json.loads(found.group(1))["scene"]
    assert scene["arrows"] == [[0, 2, 1], [1, 2, 0]]
    assert scene["box"] == [[-0.8, -0.8, -0.8], [1.8, 0.8, 1.8]]
    assert 'id="azimuth"' in SOLID.page
    assert "S0(t = 1, j = 0, i = 0)" in SOLID.page


def test_colours_and_odd_solids() -> None:
    assert SOLID.coloured("step").svg != SOLID.svg
    with pytest.raises(UsageError, match="no colouring by 'thread' here"):
        SOLID.coloured("thread")
    empty = Solid(title="S0", axes=("j", "i", "t"), points=())
    ElementTree.fromstring(empty.svg)
    assert frame((), 0, 0) == []
    assert str(SOLID) == "S0: 3 instances, 2 arrows, 2 tiles\n"


def test_tikz_has_every_dot_face_and_arrow() -> None:
    text = SOLID.tikz
    assert text.count("circle (1.2pt)") == 3
    assert text.count(r"\filldraw") == 1
    assert text.count("shorten <=2pt") == 1
    assert text.count("{") == text.count("}")
