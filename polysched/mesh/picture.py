"""A placement as a picture: cores by operator, links by load."""

from __future__ import annotations

import html
from collections.abc import Iterator

import numpy as np

from polysched.mesh.placement import Placement
from polysched.scop.picture import MARGIN, PALETTE, svg_document

CELL = 34
CORE = 22
LEGEND = 15
WIDEST = 2400
"""Of a picture in pixels: of a larger mesh, cells are smaller and links are not drawn one by one."""


def svg_of(placement: Placement) -> str:
    """A self-contained SVG document; every core and link says under the pointer what it is."""
    rows, columns = placement.target.rows, placement.target.columns
    cell = min(CELL, max(3, WIDEST // max(rows, columns)))
    parts = [f'<text x="{MARGIN}" y="16" font-weight="bold">{html.escape(placement.headline())}</text>',
             f'<g transform="translate({MARGIN},{MARGIN})">', *_cores(placement, cell)]
    if cell == CELL:
        parts += _links(placement)
    parts.append("</g>")
    height = rows * cell + 2 * MARGIN
    named = _legend(placement, height)
    parts += named
    width = max(columns * cell + 2 * MARGIN, 640)
    return svg_document("".join(parts), width=width, height=height + LEGEND * len(named) + 8, font_size=11)


def _cores(placement: Placement, cell: int) -> Iterator[str]:
    """The cores that an operator has, in its colour; dead ones are crossed out."""
    inner = max(2, cell * CORE // CELL)
    gap = (cell - inner) / 2
    owners = placement.owners
    for row in range(placement.target.rows):
        for column in range(placement.target.columns):
            x, y, owner = column * cell + gap, row * cell + gap, int(owners[row, column])
            if not placement.target.alive[row, column]:
                yield (f'<path d="M{x:g},{y:g} l{inner},{inner} m0,-{inner} l-{inner},{inner}" stroke="#888">'
                       f'<title>({row}, {column}): dead</title></path>')
                continue
            fill = PALETTE[owner % len(PALETTE)] if owner >= 0 else "#fff"
            name = placement.graph.operators[owner].name if owner >= 0 else "no operator"
            yield (f'<rect x="{x:g}" y="{y:g}" width="{inner}" height="{inner}" fill="{fill}" fill-opacity="0.6" '
                   f'stroke="#999"><title>({row}, {column}): {html.escape(name)}</title></rect>')
            if owner >= 0 and cell == CELL:
                yield (f'<text x="{x + inner / 2:g}" y="{y + inner / 2 + 4:g}" text-anchor="middle" '
                       f'pointer-events="none">{owner}</text>')


def _links(placement: Placement) -> Iterator[str]:
    """The links that have a load, the redder and the thicker the more; the two directions beside each other."""
    largest = max(1, int(placement.loads.max()))
    for direction, row, column in np.argwhere(placement.loads).tolist():
        load = int(placement.loads[direction, row, column])
        share = load / largest
        colour = f"rgb({round(90 + 140 * share)},{round(110 * (1 - share))},{round(150 * (1 - share))})"
        name = ("east", "west", "south", "north")[direction]
        x1, y1, x2, y2 = _ends(direction, row, column)
        yield (f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" '
               f'stroke-width="{1 + 4 * share:.1f}"><title>({row}, {column}) {name}: {load} B</title></line>')


def _ends(direction: int, row: int, column: int) -> tuple[float, float, float, float]:
    """Where a link is drawn: from the edge of its core to that of the next one."""
    x, y, half, length = (column + 0.5) * CELL, (row + 0.5) * CELL, CORE / 2, CELL - CORE
    return {0: (x + half, y - 4, x + half + length, y - 4), 1: (x - half, y + 4, x - half - length, y + 4),
            2: (x + 4, y + half, x + 4, y + half + length), 3: (x - 4, y - half, x - 4, y - half - length)}[direction]


def _legend(placement: Placement, top: int) -> list[str]:
    """The figures, and the operators by number."""
    lines = [str(f) for f in placement.figures.values()]
    lines += [f"{n}: {o.name}, {s.text} cores, {s.seconds:.3g} s"
              for n, (o, s) in enumerate(zip(placement.graph.operators, placement.shapes, strict=True))]
    return [f'<text x="{MARGIN}" y="{top + LEGEND * n}" fill="#333">{html.escape(line)}</text>'
            for n, line in enumerate(lines)]
