"""The Markdown of experiments as HTML."""

from polysched.report.markdown import markdown_html, tables_of
from tests.html_reader import Page

TEXT = """\
# Heading
A line with `code` and **weight** and <b>.

| name | ratio |
|:-----|------:|
| a \\| b | 1.50 |
Mean 2.0.
"""


def test_blocks_become_elements() -> None:
    text = markdown_html(TEXT)
    page = Page(text)
    assert page.counts == {"h4": 1, "p": 2, "code": 1, "strong": 1, "table": 1, "thead": 1, "tbody": 1, "tr": 2,
                           "th": 2, "td": 2}
    assert "<b>" in page.text
    assert "a | b" in page.text
    assert 'data-label="ratio"' in text
    assert 'class="number"' in text


def test_tables_are_found() -> None:
    assert tables_of(TEXT) == [[["name", "ratio"], ["a | b", "1.50"]]]
