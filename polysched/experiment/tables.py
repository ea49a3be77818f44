"""Tables as Markdown, columns aligned, so that they read as well in a terminal as in a README."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_WORDS = 3


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; the first column and text to the left, numbers to the right."""
    cells = [[str(c) for c in headings], *([_cell(c) for c in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    right = [column > 0 and not _is_text([row[column] for row in cells[1:]]) for column in range(len(headings))]

    def line(row: Sequence[str]) -> str:
        padded = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True))
        return f"| {' | '.join(padded)} |"
    rule = "|".join(f"{'-' * (w + 1)}:" if r else f"{'-' * (w + 2)}" for w, r in zip(widths, right, strict=True))
    return "\n".join([line(cells[0]), f"|{rule}|", *(line(row) for row in cells[1:])])


def _is_text(column: Sequence[str]) -> bool:
    """Whether most cells are words or sentences; a number may have a unit and a word behind it."""
    words = [cell for cell in column if not re.match(r"[-+]?\.?\d|-?$", cell) or len(cell.split()) > MOST_WORDS]
    return 2 * len(words) > len(column)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
