"""SVG: tiles as polygons or cells, numbers, what a page needs to find, and escaped text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from polysched.scop.picture import Link, Panel, Picture, Turn

SVG = "{http://www.w3.org/2000/svg}"
TRIANGLE = ((-0.5, -0.5), (1.5, -0.5), (-0.5, 1.5))


def drawn(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(picture.svg)


def two_tiles() -> Picture:
    panel = Panel(title="S<0>", axes=("i", "j"), points=((0, 0), (1, 0), (3, 0)), arrows=(((0, 0), (1, 0)),),
                  colours={(0, 0): 0, (1, 0): 0, (3, 0): 1}, shapes={0: (TRIANGLE,)})
    return Picture(panels=(panel, panel), links=(Link(0, (0, 0), 1, (1, 0)),), turns={0: Turn(0, 1), 1: Turn(1, 0)})


def test_a_tile_is_its_polygon_or_its_cells_with_an_outline() -> None:
    tiles = [g for g in drawn(two_tiles()).iter(f"{SVG}g") if g.get("class") == "tile"]
    assert [(tile.get("data-tile"), len(tile.findall(f"{SVG}path"))) for tile in tiles] == [("0", 1), ("1", 2)] * 2
    assert tiles[0].find(f"{SVG}title").text == "tile 0, step 0, thread 1"


def test_numbers_are_drawn_where_there_are_several_tiles() -> None:
    numbers = [t.text for t in drawn(two_tiles()).iter(f"{SVG}text") if t.get("data-tile")]
    assert numbers == ["0", "1"] * 2
    alone = Panel(title="S", axes=("i", ""), points=((0, 0),), colours={(0, 0): 0})
    assert not [t for t in drawn(Picture(panels=(alone,))).iter(f"{SVG}text") if t.get("data-tile")]


def test_arrows_name_their_ends() -> None:
    root = drawn(two_tiles())
    ends = {(part.get("data-from"), part.get("data-to")) for part in root.iter() if part.get("data-from")}
    assert ends == {("0:0,0", "0:1,0"), ("1:0,0", "1:1,0"), ("0:0,0", "1:1,0")}
    names = {part.get("data-name") for part in root.iter(f"{SVG}circle")} - {None}
    assert {end for pair in ends for end in pair} <= names


def test_threads_in_colour_have_a_legend() -> None:
    by_thread = two_tiles().coloured("thread")
    assert {"thread 0", "thread 1"} <= {text.text for text in drawn(by_thread).iter(f"{SVG}text")}
    fills = {g.get("data-tile"): g.get("fill") for g in drawn(by_thread).iter(f"{SVG}g") if g.get("class") == "tile"}
    assert fills["0"] != fills["1"]
