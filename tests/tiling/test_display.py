"""A tiled schedule as HTML: bands and tiles."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.html_reader import Page

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


def rows(page: Page) -> int:
    return page.counts["tr"] - page.counts["thead"]


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
