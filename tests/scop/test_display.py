"""A Scop as HTML: source, domains and accesses."""

from __future__ import annotations

from polysched.dependence import analyse
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


def rows(page: Page) -> int:
    return page.counts["tr"] - page.counts["thead"]


def test_scop_shows_source_domains_and_accesses():
    scop = smooth().scop
    page = Page(scop._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert rows(page) == len(scop.statements) + len(scop.arrays)
    assert "a[i] = (a[i - 1] < a[i + 1])" in page.text.replace("\n", " ")


def test_domains_that_cannot_be_drawn_say_why():
    scop = from_c_text(STENCIL.replace("steps", "5000").replace("int 5000, ", ""))
    page = Page(scop._repr_html_())
    assert page.counts["circle"] == 0
    assert "no picture: 25000 instances of S0 are too many to draw" in page.text
