"""A schedule as HTML: a coloured square per instance in a tile."""

from __future__ import annotations

from tests.html_reader import Page
from tests.smooth import INSTANCES, tiled_by_hand


def test_schedule_shows_a_coloured_square_per_instance_in_a_tile():
    schedule = tiled_by_hand()
    page = Page(schedule._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert page.counts["rect"] == INSTANCES + 4            # four loops in the drawn tree
    assert "tile loops=[\"t\", \"i\"] sizes=[2, 3]" in page.text
