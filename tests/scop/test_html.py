"""HTML pieces: escaped, and honest about what they leave out."""

from __future__ import annotations

from polysched.scop import html
from tests.html_reader import Page


def test_long_tables_say_how_much_is_left_out():
    page = Page(html.table(("n",), ((n,) for n in range(html.MOST_ROWS + 3))))
    assert page.rows == html.MOST_ROWS
    assert "and 3 more" in page.text


def test_html_escapes_what_it_is_given():
    page = Page(html.card("a < b", html.paragraph("<script>"), html.preformatted("x & y")))
    assert page.counts == {"div": 2, "p": 1, "pre": 1}
    assert page.text == "a < b<script>x & y"
