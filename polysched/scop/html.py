"""Pieces of self-contained HTML for notebooks: no style sheet, no script, nothing from the network.

Colours come from inline styles, because notebook viewers drop style sheets.  Every piece that takes text escapes
it; pieces that take HTML say so.
"""

from __future__ import annotations

import base64
import html
import importlib
import importlib.util
from collections.abc import Iterable, Sequence

MOST_ROWS = 40
"""Longer tables end in a line that says how many rows are not shown."""

SHRINKS = "max-width:100%;height:auto;"
"""In the style of a drawing: it becomes smaller with a narrow page."""

_CARD = "border:1px solid #bbb;border-radius:6px;padding:8px 12px;margin:4px 0;max-width:100%;overflow-x:auto"
_CODE = ("margin:0;padding:8px;background:#f8f8f8;color:#222;border-radius:4px;overflow:auto;"
         "font-family:monospace;font-size:12px;line-height:1.35;white-space:pre")
_CELL = "text-align:left;padding:2px 12px 2px 0;font-size:12px;vertical-align:top"


def card(title: str, *pieces: str) -> str:
    """A framed value: its title above HTML pieces."""
    return (f'<div style="{_CARD}"><div style="font-weight:bold;margin-bottom:4px">{html.escape(title)}</div>'
            f'{"".join(pieces)}</div>')


def paragraph(text: str) -> str:
    """One paragraph of text."""
    return f'<p style="margin:4px 0">{html.escape(text)}</p>'


def preformatted(text: str) -> str:
    """Text with its line breaks."""
    return f'<pre style="{_CODE}">{html.escape(text)}</pre>'


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of text; of a long one the first `MOST_ROWS` rows."""
    every = list(rows)
    head = "".join(f'<th style="{_CELL}">{html.escape(h)}</th>' for h in headings)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{html.escape(str(cell))}</td>' for cell in row) + "</tr>"
                   for row in every[:MOST_ROWS])
    rest = paragraph(f"and {len(every) - MOST_ROWS} more") if len(every) > MOST_ROWS else ""
    return (f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            f'{rest}')


def folded(summary: str, *pieces: str) -> str:
    """HTML pieces below a line that opens and closes them; closed at first."""
    return f"<details><summary>{html.escape(summary)}</summary>{''.join(pieces)}</details>"


def drawing(svg: str, *, alt: str = "drawing") -> str:
    """A picture on white, whatever the notebook's theme.

    It is an image with its data inside: viewers drop SVG elements from notebooks that somebody else has run.

    Parameters
    ----------
    svg : a document of `picture.svg_document`; one that does not shrink is scrolled.
    """
    data = base64.b64encode(svg.encode()).decode("ascii")
    fit = SHRINKS if SHRINKS in svg[:svg.index(">")] else "max-width:none;"
    return ('<div style="background:#fff;color:#222;display:inline-block;max-width:100%;overflow-x:auto">'
            f'<img alt="{html.escape(alt)}" style="{fit}" src="data:image/svg+xml;base64,{data}"></div>')


def beside(*pieces: str, whole: bool = False) -> str:
    """HTML pieces next to each other, below each other where the page is narrow.

    Parameters
    ----------
    whole : rather below each other than with a part of a piece out of sight.
    """
    look = "flex:1 1 auto;min-width:0;max-width:100%" if whole else "flex:1 1 320px;min-width:0"
    return ('<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">'
            + "".join(f'<div style="{look}">{piece}</div>' for piece in pieces) + "</div>")


def c_code(text: str) -> str:
    """C with its keywords in colour where Pygments is installed, else plain."""
    if importlib.util.find_spec("pygments") is None:
        return preformatted(text)
    pygments = importlib.import_module("pygments")
    lexers, formatters = (importlib.import_module(f"pygments.{name}") for name in ("lexers", "formatters"))
    coloured = pygments.highlight(text, lexers.CLexer(stripnl=False),
                                  formatters.HtmlFormatter(noclasses=True, nowrap=True, style="default"))
    return f'<pre style="{_CODE};max-height:40em">{coloured}</pre>'
