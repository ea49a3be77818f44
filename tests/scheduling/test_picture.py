"""Pictures hold what they show: every instance, every arrow, every tile."""

import math
import xml.etree.ElementTree as ElementTree

import pytest

from polysched.dependence import analyse
from polysched.dependence.picture import draw_dependences
from polysched.errors import UsageError
from polysched.scheduling import steps
from polysched.scheduling.picture import draw_tiles, draw_tree, tree_text
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
    squares = ElementTree.fromstring(picture.svg).findall(f".//{SVG}rect")
    paint = dict(zip(groups.items(), (square.get("fill") for square in squares), strict=True))
    colour = {point: fill for (point, _), fill in paint.items()}
    pairs = [(p, q) for p in groups for q in ((p[0] + 1, p[1]), (p[0], p[1] + 1), (p[0] + 1, p[1] + 1)) if q in groups]
    assert all((colour[p] == colour[q]) == (groups[p] == groups[q]) for p, q in pairs)


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
