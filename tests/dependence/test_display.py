"""Dependences as HTML: an arrow per pair, a row per pair of accesses."""

from __future__ import annotations

from tests.html_reader import Page
from tests.smooth import arrows_by_hand, smooth


def test_dependences_show_an_arrow_per_pair_in_the_picture_and_a_row_per_pair_of_accesses():
    dependences = smooth().dependences
    page = Page(dependences._repr_html_())
    assert page.counts["line"] == len(arrows_by_hand())
    assert page.rows == len(dependences.pairs)
