"""A schedule as HTML: a coloured square per instance in a tile."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.scheduling import steps
from polysched.scheduling.primitives import Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
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


def tiled_by_hand() -> Schedule:
    return steps.apply(smooth(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))


def test_schedule_shows_a_coloured_square_per_instance_in_a_tile():
    schedule = tiled_by_hand()
    page = Page(schedule._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert page.counts["rect"] == INSTANCES + 4            # four loops in the drawn tree
    assert "tile loops=[\"t\", \"i\"] sizes=[2, 3]" in page.text
