"""What values of all stages show: the counts in the picture and the table are those of the value."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace

import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling import steps
from polysched.scheduling.picture import draw_tiles, draw_tree
from polysched.scheduling.primitives import Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scop import html
from polysched.scop.c_frontend.frontend import from_c_text
from polysched.scop.shown import LONGEST_REPR
from polysched.tiling import TilingOptions, tile
from tests.html_reader import Page
from tests.measure.test_results import MEASUREMENT

STENCIL = """\
void smooth(int steps, int n, double a[n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[i] = (a[i - 1] < a[i + 1]) ? a[i - 1] : a[i + 1];
#pragma endscop
}
"""
INSTANCES = 7 * (7 - 2)   # a picture takes steps = 7, n = 7


def smooth() -> Schedule:
    scop = from_c_text(STENCIL)
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def tiled_by_hand() -> Schedule:
    return steps.apply(smooth(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))


def rows(page: Page) -> int:
    return page.counts["tr"] - page.counts["thead"]


def test_scop_shows_source_domains_and_accesses():
    scop = smooth().scop
    page = Page(scop._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert rows(page) == len(scop.statements) + len(scop.arrays)
    assert "a[i] = (a[i - 1] < a[i + 1])" in page.text.replace("\n", " ")


def test_dependences_show_an_arrow_per_pair_in_the_picture_and_a_row_per_pair_of_accesses():
    dependences = smooth().dependences
    page = Page(dependences._repr_html_())
    assert page.counts["line"] == len(arrows_by_hand())
    assert rows(page) == len(dependences.pairs)


def arrows_by_hand() -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Flow, anti and output dependences of STENCIL by running through its instances."""
    order = [(t, i) for t in range(7) for i in range(1, 6)]
    found = set()
    written: dict[int, tuple[int, int]] = {}
    readers: dict[int, set[tuple[int, int]]] = {}
    for t, i in order:
        for element in (i - 1, i + 1):
            if element in written:
                found.add((written[element], (t, i)))
            readers.setdefault(element, set()).add((t, i))
        found |= {(reader, (t, i)) for reader in readers.pop(i, set())}
        if i in written:
            found.add((written[i], (t, i)))
        written[i] = (t, i)
    return found


def test_schedule_shows_a_coloured_square_per_instance_in_a_tile():
    schedule = tiled_by_hand()
    page = Page(schedule._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert page.counts["rect"] == INSTANCES + 4            # four loops in the drawn tree
    assert "tile loops=[\"t\", \"i\"] sizes=[2, 3]" in page.text


def test_tiled_schedule_shows_bands_and_tiles():
    scop = smooth().scop
    by_pluto = optimize(scop, PipelineOptions(tile=3, parallel=False)).schedule
    tiled = tile(by_pluto, TilingOptions(sizes=3, parallel=False, register=False))
    page = Page(tiled._repr_html_())
    assert rows(page) == len(tiled.bands) == 1
    assert "tiles 3 × 3" in page.text
    assert page.counts["rect"] >= INSTANCES
    whole = Page(tile(by_pluto, TilingOptions(sizes=64, parallel=False, register=False))._repr_html_())
    assert "One tile covers the whole picture" in whole.text


def test_domains_that_cannot_be_drawn_say_why():
    scop = from_c_text(STENCIL.replace("steps", "5000").replace("int 5000, ", ""))
    page = Page(scop._repr_html_())
    assert page.counts["circle"] == 0
    assert "no picture: 25000 instances of S0 are too many to draw" in page.text


@pytest.mark.skipif(importlib.util.find_spec("pygments") is None, reason="Pygments is not installed")
def test_emitted_c_is_coloured():
    source = optimize(smooth().scop, PipelineOptions(tile=3)).source
    page = Page(source._repr_html_())
    assert source.text in page.text
    assert page.counts["span"] > 20


def test_emitted_c_without_pygments_is_the_same_text(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments", None)
    monkeypatch.setattr(html.importlib.util, "find_spec", lambda name: None)
    source = emit(tile(smooth(), TilingOptions(sizes="off")))
    page = Page(source._repr_html_())
    assert source.text in page.text
    assert page.counts["span"] == 0


def test_optimized_shows_both_programs_and_every_step():
    optimized = optimize(smooth().scop, PipelineOptions(tile=3))
    page = Page(optimized._repr_html_())
    for expected in (*optimized.steps(), optimized.text, "for (int t = 0; t < steps; t++)"):
        assert expected in page.text
    assert str(optimized).endswith(optimized.text)


def test_text_of_every_stage_names_what_it_holds():
    optimized = optimize(smooth().scop, PipelineOptions(tile=3, parallel=False))
    assert "statement S0, line 6:" in str(optimized.scop)
    assert str(optimized.dependences).count("\n") == len(optimized.dependences.pairs)
    assert str(tiled_by_hand()).startswith("schedule of smooth by original\nstep: skew loop=\"i\" by=\"t\" factor=1\n")
    assert "band 0: tiles 3 × 3" in str(optimized.tiled)
    assert str(optimized.source) == optimized.text


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="IPython is not installed")
def test_ipython_on_a_terminal_shows_the_text():
    pretty = importlib.import_module("IPython.lib.pretty").pretty
    optimized = optimize(smooth().scop, PipelineOptions(tile=3, parallel=False))
    for value in (optimized, optimized.scop, optimized.dependences, optimized.schedule, optimized.tiled,
                  optimized.source, draw_tiles(optimized.dependences, optimized.tiled.tree), MEASUREMENT):
        assert pretty(value) == str(value).rstrip("\n")
        assert "Set(" not in pretty(value)


def test_pictures_as_text_count_what_they_show():
    schedule = tiled_by_hand()
    arrows = len(arrows_by_hand())
    tiles = len({(t // 2, (t + i) // 3) for t in range(7) for i in range(1, 6)})
    assert str(draw_tiles(schedule.dependences, schedule.tree, parameters={"steps": 7, "n": 7})) == (
        f"S0: {INSTANCES} instances, {arrows} arrows, {tiles} tiles\n")
    assert str(draw_tree(schedule.tree)).count("\n") == 4


def test_long_tables_say_how_much_is_left_out():
    page = Page(html.table(("n",), ((n,) for n in range(html.MOST_ROWS + 3))))
    assert rows(page) == html.MOST_ROWS
    assert "and 3 more" in page.text


def test_html_escapes_what_it_is_given():
    page = Page(html.card("a < b", html.paragraph("<script>"), html.preformatted("x & y")))
    assert page.counts == {"div": 2, "p": 1, "pre": 1}
    assert page.text == "a < b<script>x & y"




def test_a_value_is_one_line_inside_another():
    optimized = optimize(smooth().scop, PipelineOptions(vector_bits=256))
    told = {
        repr(optimized.scop): "<Scop smooth(steps, n): 1 statements, 1 arrays>",
        repr(optimized.dependences): "<Dependences of smooth: ",
        repr(optimized.schedule): "<Schedule of smooth: pluto>",
        repr(optimized.tiled): "<TiledSchedule of smooth: ",
        repr(optimized.source): "<CSource of smooth: ",
        repr(optimized): "<Optimized smooth: pluto, ",
        repr(MEASUREMENT): "<Measurement ",
    }
    for line, beginning in told.items():
        assert line.startswith(beginning)
        assert line.endswith(">")
        assert "\n" not in line
        assert len(line) <= LONGEST_REPR
    assert repr([optimized]) == f"[{optimized!r}]"


def test_a_long_line_is_cut():
    scop = replace(smooth().scop, name="f" * 400)
    assert len(repr(scop)) == LONGEST_REPR
    assert repr(scop).endswith("f...>")
