"""Pictures hold what they show: every instance, every arrow, every tile."""

import math
import xml.etree.ElementTree as ElementTree

import pytest

from polysched.dependence import analyse
from polysched.dependence.picture import draw_dependences
from polysched.errors import UsageError
from polysched.scheduling import SchedulerOptions, pluto, steps
from polysched.scheduling.picture import draw_schedule, draw_tiles, draw_tree, tree_text
from polysched.scheduling.primitives import Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scop.picture import draw_domains
from tests.scop_builder import build_scop

SVG = "{http://www.w3.org/2000/svg}"


def stencil():
    scop = build_scop([("S0", "{ S0[t, i] : 0 <= t < N and 1 <= i < N }",
                        ["{ S0[t, i] -> A[i - 1] }", "{ S0[t, i] -> A[i + 1] }"], ["{ S0[t, i] -> A[i] }"])],
                      "{ S0[t, i] -> [t, i] }")
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def test_one_dot_per_instance():
    root = ElementTree.fromstring(draw_domains(stencil().scop, parameters={"N": 5}).svg)
    assert len(root.findall(f".//{SVG}circle")) == 5 * 4


def test_one_arrow_per_dependence():
    picture = draw_dependences(stencil().dependences, parameters={"N": 4})
    arrows = set(picture.panels[0].arrows)
    assert ((1, 0), (2, 0)) in arrows     # A[1] written at (t, i) = (0, 1), read at (0, 2)
    assert ((2, 0), (1, 1)) in arrows     # A[2] written at (0, 2), read at (1, 1)
    assert all(source != sink for source, sink in arrows)


def pipeline(length="N"):
    """S1 reads what S0 wrote at its own place and the one before."""
    scop = build_scop([("S0", f"{{ S0[i] : 0 <= i < {length} }}", [], ["{ S0[i] -> A[i] }"]),
                       ("S1", f"{{ S1[i] : 1 <= i < {length} }}",
                        ["{ S1[i] -> A[i] }", "{ S1[i] -> A[i - 1] }"], ["{ S1[i] -> B[i] }"])],
                      "{ S0[i] -> [0, i]; S1[i] -> [1, i] }")
    return analyse(scop)


def test_arrows_between_statements_go_from_panel_to_panel():
    picture = draw_dependences(pipeline(), parameters={"N": 4})
    assert {(link.source_panel, link.source, link.sink_panel, link.sink) for link in picture.links} == {
        (0, (i, 0), 1, (j, 0)) for i in range(4) for j in (i, i + 1) if 1 <= j < 4}
    assert not any(panel.arrows for panel in picture.panels)
    paths = ElementTree.fromstring(picture.svg).findall(f".//{SVG}g/{SVG}path")
    assert len(paths) == len(picture.links) == 6


def test_of_many_arrows_between_statements_those_of_one_instance_are_drawn():
    picture = draw_dependences(pipeline(), parameters={"N": 50})
    assert {(link.source, link.sink) for link in picture.links} == {((24, 0), (24, 0)), ((24, 0), (25, 0))}
    assert "2 of 98 arrows" in picture.note
    assert picture.note in picture.svg


def test_statements_that_share_a_band_lie_in_one_grid_in_their_new_order():
    dependences = pipeline()
    fused = pluto(dependences, options=SchedulerOptions(fusion="max"))
    (panel,) = draw_schedule(dependences, fused.tree, parameters={"N": 4}).panels
    assert len(panel.points) == 4 + 3
    assert len(set(panel.points)) == 7, "no dot hides another"
    assert len(panel.arrows) == 6
    assert all(source[0] < sink[0] + 0.5 for source, sink in panel.arrows), "no arrow points back in time"
    assert [text for _, text in panel.legend] == ["S0", "S1"]


def test_tiles_are_seen_in_schedule_space():
    skewed = steps.apply(stencil(), Skew(loop="i", by="t", factor=1))
    tiled = steps.apply(skewed, Tile(loops=("t", "i"), sizes=(2, 2)))
    (panel,) = draw_schedule(skewed.dependences, skewed.tree, tiles=tiled.tree, parameters={"N": 5}).panels
    tiles = {}
    for (x, y), group in panel.colours.items():
        tiles.setdefault(group, set()).add((x // 2, y // 2))
    assert all(len(corner) == 1 for corner in tiles.values()), "rectangular where the loops are skewed"
    assert set(panel.points) == {(t + i, t) for t in range(5) for i in range(1, 5)}


def test_tiles_partition_the_instances():
    tiled = steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))
    panel = draw_tiles(tiled.dependences, tiled.tree, parameters={"N": 5}).panels[0]
    assert set(panel.colours) == set(panel.points)
    assert panel.colours[(1, 0)] == panel.colours[(1, 1)]
    assert panel.colours[(1, 0)] != panel.colours[(4, 4)]


def test_neighbouring_tiles_have_different_colours():
    tiled = steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 2)))
    picture = draw_tiles(tiled.dependences, tiled.tree, parameters={"N": 20})
    groups = picture.panels[0].colours
    tiles = [g for g in ElementTree.fromstring(picture.svg).findall(f".//{SVG}g") if g.get("class") == "tile"]
    fill = {int(tile.get("data-tile")): tile.get("fill") for tile in tiles}
    assert set(fill) == set(groups.values())
    colour = {point: fill[group] for point, group in groups.items()}
    pairs = [(p, q) for p in groups for q in ((p[0] + 1, p[1]), (p[0], p[1] + 1), (p[0] + 1, p[1] + 1)) if q in groups]
    assert all((colour[p] == colour[q]) == (groups[p] == groups[q]) for p, q in pairs)


def test_tiles_have_numbers_outlines_and_turns():
    tiled = steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))
    picture = draw_tiles(tiled.dependences, tiled.tree, parameters={"N": 7})
    panel = picture.panels[0]
    groups = set(panel.colours.values())
    root = ElementTree.fromstring(picture.svg)
    assert {text.text for text in root.findall(f".//{SVG}text") if text.get("data-tile")} == set(map(str, groups))
    assert set(panel.shapes) == groups, "every tile of a skewed box is a polygon"
    assert set(picture.turns) == groups
    assert "earliest" in picture.order
    corners = {corner for polygons in panel.shapes.values() for polygon in polygons for corner in polygon}
    assert any(abs(x - round(x * 2) / 2) < 1e-6 for x, _ in corners)
    with pytest.raises(UsageError, match="one thread runs them all"):
        picture.coloured("thread")
    with pytest.raises(UsageError, match="no colouring by 'mood'"):
        picture.coloured("mood")
    assert len({fill.get("fill") for fill in ElementTree.fromstring(picture.coloured("step").svg).iter()
                if fill.get("class") == "tile"}) == 1 + max(turn.step for turn in picture.turns.values())
    with pytest.raises(UsageError, match="0 threads cannot run tiles"):
        draw_tiles(tiled.dependences, tiled.tree, parameters={"N": 5}, threads=0)


def test_arrows_end_at_the_edge_of_the_dots():
    root = ElementTree.fromstring(draw_dependences(stencil().dependences, parameters={"N": 4}).svg)
    centres = [(float(c.get("cx")), float(c.get("cy"))) for c in root.findall(f".//{SVG}circle")]
    for line in root.findall(f".//{SVG}line"):
        for x, y in ((line.get("x1"), line.get("y1")), (line.get("x2"), line.get("y2"))):
            assert min(math.dist((float(x), float(y)), centre) for centre in centres) == pytest.approx(4, abs=0.1)


def test_tree_is_drawn_with_one_box_per_loop():
    tiled = steps.apply(stencil(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))
    root = ElementTree.fromstring(draw_tree(tiled.tree).svg)
    assert len(root.findall(f".//{SVG}rect")) == 4
    assert "tile" in tree_text(tiled.tree).splitlines()[0]


def test_too_many_instances_are_refused():
    with pytest.raises(UsageError, match="too many to draw"):
        draw_domains(stencil().scop, parameters={"N": 100})
    with pytest.raises(UsageError, match="more than 2500 instances of S0"):   # and are not listed first
        draw_domains(stencil().scop, parameters={"N": 10**6})


def test_unknown_axes_are_refused():
    with pytest.raises(UsageError, match="has no iterator 'z'"):
        draw_domains(stencil().scop, axes=("t", "z"))
