"""The Markdown that experiments print (tables, headings, lists, paragraphs) as HTML; everything else is text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_RULE = re.compile(r"\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?\s*)?")


def markdown_html(text: str) -> str:
    """HTML of the blocks of a text."""
    return "".join(_block(lines) for lines in _blocks(text))


def tables_of(text: str) -> list[list[list[str]]]:
    """The tables of a text as rows of cells, the headings first."""
    return [_rows(lines) for lines in _blocks(text) if lines[0].lstrip().startswith("|")]


def _rows(lines: list[str]) -> list[list[str]]:
    return [_cells(line) for line in lines if not _RULE.fullmatch(line.strip())]


def _blocks(text: str) -> Iterator[list[str]]:
    """Groups of lines: tables, and what stands between empty lines."""
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        in_table = line.lstrip().startswith("|")
        if block and (not line.strip() or in_table != block[0].lstrip().startswith("|")):
            yield block
            block = []
        if line.strip():
            block.append(line)


def _block(lines: list[str]) -> str:
    if lines[0].lstrip().startswith("|"):
        rows = _rows(lines)
        return table_html(rows[0], rows[1:])
    if heading := re.match(r"#+\s+(.*)", lines[0]):
        return f"<h4>{_inline(heading[1])}</h4>" + (_block(lines[1:]) if lines[1:] else "")
    return f"<p>{'<br>'.join(map(_inline, lines))}</p>"


def _cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [part.strip().replace("\\|", "|") for part in parts]


def _inline(text: str) -> str:
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", shown)


def table_html(headings: list[str], rows: list[list[str]]) -> str:
    """A table that becomes a list of cards on a narrow page: every cell knows its heading."""
    numeric = [all(re.fullmatch(r"[-+~<>]?[\d.,]+\s*[%×x]?|-|–|", row[c]) for row in rows if c < len(row))
               for c in range(len(headings))]
    kinds = ["number" if n and at else "" for at, n in enumerate(numeric)]
    head = "".join(f'<th class="{kind}">{_inline(h)}</th>' for h, kind in zip(headings, kinds, strict=True))
    body = "".join("<tr>" + "".join(
        f'<td class="{kind}" data-label="{html.escape(heading)}">{_inline(cell)}</td>'
        for heading, kind, cell in zip(headings, kinds, row, strict=False)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
