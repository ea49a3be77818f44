"""Pictures as TikZ: every dot, outline and number is there, text is escaped, and the text is well-formed."""

from __future__ import annotations

import re
from dataclasses import replace

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.picture import draw_tiles
from polysched.scop import from_c_text
from polysched.scop.picture import Link, Panel, Picture
from polysched.tiling import TilingOptions, tile


def balanced(text: str) -> bool:
    bare = re.sub(r"\\\\[{}]", "", text)
    return bare.count("{") == bare.count("}") and text.count(r"\begin{scope}") == text.count(r"\end{scope}")


def test_panels_links_and_text() -> None:
    one = Panel(title="S_0 & 50%", axes=("i", "j"), points=((0, 0), (1, 0)), arrows=(((0, 0), (1, 0)),),
                inks={(0, 0): "#f00"}, legend=(("#f00", "first"),))
    empty = Panel(title="S1", axes=("i", "j"), points=())
    text = Picture(panels=(one, empty), links=(Link(0, (0, 0), 1, (0, 0)),)).tikz
    assert balanced(text)
    assert r"S\_0 \& 50\%" in text
    assert text.count("circle (1.6pt)") == 2
    assert text.count("shorten <=2pt") == 1
    assert text.count("to[bend left=20]") == 1
    assert "{HTML}{FF0000}" in text


def test_a_tiled_program_has_its_tiles() -> None:
    scop = from_c_text("""void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = A[i - 1][j] + A[i][j - 1];
#pragma endscop
}""")
    dependences = analyse(scop)
    tiled = tile(pluto(dependences), TilingOptions(sizes=3, register=None))
    picture = draw_tiles(dependences, tiled.tree, parameters={"n": 7})
    text = picture.tikz
    assert balanced(text)
    assert text.count("circle (1.6pt)") == len(picture.panels[0].points) == 36
    tiles = set(picture.panels[0].colours.values())
    assert text.count("opacity=0.35") == text.count(r"\draw[thick]") == len(tiles)
    assert text.count("fill=white") == len(tiles)
    assert balanced(picture.coloured("step").tikz)
    cells = replace(picture, panels=tuple(replace(panel, shapes={}) for panel in picture.panels)).tikz
    assert cells.count("rectangle +(1,1)") == 36
    assert balanced(cells)
