"""A tiled schedule as HTML: bands and tiles."""

from __future__ import annotations

from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.tiling import TilingOptions, tile
from tests.html_reader import Page
from tests.smooth import INSTANCES, smooth


def test_tiled_schedule_shows_bands_and_tiles():
    scop = smooth().scop
    by_pluto = optimize(scop, PipelineOptions(tile=3, parallel=False)).schedule
    tiled = tile(by_pluto, TilingOptions(sizes=3, parallel=False, register=False))
    page = Page(tiled._repr_html_())
    assert page.rows == len(tiled.bands) == 1
    assert "tiles 3 × 3" in page.text
    assert page.counts["circle"] == INSTANCES
    assert 1 < page.counts["path"] - page.counts["marker"] < INSTANCES
    whole = Page(tile(by_pluto, TilingOptions(sizes=64, parallel=False, register=False))._repr_html_())
    assert "One tile covers the whole picture" in whole.text
