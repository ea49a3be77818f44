"""Reads the HTML and SVG that values show in notebooks: is it well formed, self-contained, and how much is in it."""

from __future__ import annotations

import base64
from collections import Counter
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "meta", "link"}
INSIDE = "data:image/svg+xml;base64,"
FETCHING = {"src", "xlink:href", "data"}


class Page(HTMLParser):
    """Counts tags, keeps the text, and refuses unbalanced tags and anything that would be fetched or run."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.counts: Counter[str] = Counter()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    @property
    def text(self) -> str:
        return "".join(self.words)

    @property
    def rows(self) -> int:
        """Rows of tables, without those of headings."""
        return self.counts["tr"] - self.counts["thead"]

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "style", "link", "iframe"), f"{tag} is not self-contained"
        for name, value in attrs:
            if name == "src" and value.startswith(INSIDE):
                self._look_into(base64.b64decode(value.removeprefix(INSIDE)).decode())
                continue
            assert name not in FETCHING, f"{name}={value} is fetched"
            assert not name.startswith("on"), f"{name} runs a script"
            assert name == "xmlns" or "//" not in (value or ""), f"{name}={value} is fetched"
        self.counts[tag] += 1
        if tag not in VOID:
            self.open.append(tag)

    def _look_into(self, picture: str) -> None:
        """A picture whose data stands in the page counts as if its elements did."""
        inside = Page(picture)
        self.counts += inside.counts
        self.words += inside.words

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another"

    def handle_data(self, data):
        self.words.append(data)
