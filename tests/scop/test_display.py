"""A Scop as HTML: source, domains and accesses."""

from __future__ import annotations

from polysched.scop.c_frontend.frontend import from_c_text
from tests.html_reader import Page
from tests.smooth import INSTANCES, STENCIL, smooth


def test_scop_shows_source_domains_and_accesses():
    scop = smooth().scop
    page = Page(scop._repr_html_())
    assert page.counts["circle"] == INSTANCES
    assert page.rows == len(scop.statements) + len(scop.arrays)
    assert "a[i] = (a[i - 1] < a[i + 1])" in page.text.replace("\n", " ")


def test_domains_that_cannot_be_drawn_say_why():
    scop = from_c_text(STENCIL.replace("steps", "5000").replace("int 5000, ", ""))
    page = Page(scop._repr_html_())
    assert page.counts["circle"] == 0
    assert "no picture: 25000 instances of S0 are too many to draw" in page.text
