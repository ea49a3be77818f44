"""Tables as Markdown, columns aligned, so that they read as well in a terminal as in a README."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; the first column to the left, numbers to the right."""
    cells = [[str(c) for c in headings], *([_cell(c) for c in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    right = [column > 0 for column in range(len(headings))]

    def line(row: Sequence[str]) -> str:
        padded = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True))
        return f"| {' | '.join(padded)} |"
    rule = "|".join(f"{'-' * (w + 1)}:" if r else f"{'-' * (w + 2)}" for w, r in zip(widths, right, strict=True))
    return "\n".join([line(cells[0]), f"|{rule}|", *(line(row) for row in cells[1:])])


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
