"""A schedule as HTML: a coloured square per instance in a tile."""

from __future__ import annotations

from tests.html_reader import Page
from tests.smooth import INSTANCES, tiled_by_hand


def tiles_by_hand() -> set[tuple[int, int]]:
    """The tiles of `tiled_by_hand`, instance by instance, i counted along with t."""
    return {(t // 2, (i + t) // 3) for t in range(7) for i in range(1, 6)}


def test_schedule_shows_an_outline_per_tile():
    schedule = tiled_by_hand()
    page = Page(schedule._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert page.counts["rect"] == 4            # four loops in the drawn tree
    edges = 3                                  # between these four
    assert page.counts["path"] - page.counts["marker"] - edges == len(tiles_by_hand())
    assert "tile loops=[\"t\", \"i\"] sizes=[2, 3]" in page.text
