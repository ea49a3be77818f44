"""Pictures as SVG: tiles with outlines and numbers, dots, arrows, axes.

Every arrow and tile carries what a page needs to find it (`data-` attributes); on its own they do nothing.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from math import hypot

from polysched.scop.picture import MARGIN, PALETTE, Panel, Picture, Place, Turn, svg_document
from polysched.scop.pictures.paint import (
    cells_by_group,
    colour_legend,
    groups_of,
    label_place,
    outlines,
    painted,
    place_name,
)

CELL = 26
RADIUS = 4
LEGEND = 16
BOX = 12   # of a colour that is explained, in pixels
MANY_ARROWS = 100
LETTER = 7  # the width of a letter of the titles, in pixels, somewhat above the mean

ARROW_HEADS = "<defs>" + "".join(
    f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{size}" '
    f'markerHeight="{size}" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
    for name, colour, size in (("head", "#555", 6), ("link", PALETTE[5], 6), ("lifted", "#d00000", 4))) + "</defs>"


def svg_of(picture: Picture) -> str:
    """The panels side by side, the arrows between them, what the colours mean, and the note."""
    parts, grids, x, tallest = [], [], 0, 0
    paint = painted(picture)
    for number, panel in enumerate(picture.panels):
        grid = _Grid(panel, number)
        parts.append(f'<g transform="translate({x},0)">{_panel(panel, grid, paint, picture.turns)}</g>')
        grids.append((x, grid))
        x, tallest = x + grid.width, max(tallest, grid.height)
    parts.append(f'<g fill="none" stroke="{PALETTE[5]}" stroke-width="1.2" marker-end="url(#link)">')
    for link in picture.links:
        (x1, first), (x2, second) = grids[link.source_panel], grids[link.sink_panel]
        source, sink = first.at(link.source), second.at(link.sink)
        ends = f'data-from="{first.name(link.source)}" data-to="{second.name(link.sink)}"'
        parts.append(_curve((x1 + source[0], source[1]), (x2 + sink[0], sink[1]), ends))
    parts.append("</g>")
    legend, tallest = colour_boxes(colour_legend(picture.colour_by, picture.turns, groups_of(picture.panels)), tallest)
    parts += legend
    if picture.note:
        parts.append(f'<text x="{MARGIN}" y="{tallest + 12}" fill="#555">{html.escape(picture.note)}</text>')
        tallest, x = tallest + 22, max(x, MARGIN + LETTER * len(picture.note))
    return svg_document(ARROW_HEADS + "".join(parts), width=x, height=tallest)


def colour_boxes(meanings: Iterable[tuple[str, str]], top: int) -> tuple[list[str], int]:
    """What the colours of groups mean, a line each, and where that ends; a page hides it under other colours."""
    parts = []
    for colour, text in meanings:
        parts.append(f'<rect x="{MARGIN}" y="{top}" width="{BOX}" height="{BOX}" fill="{colour}" fill-opacity="0.5" '
                     f'stroke="#444"/><text x="{MARGIN + 18}" y="{top + BOX - 1}">{text}</text>')
        top += LEGEND + 2
    return [f'<g class="meanings">{"".join(parts)}</g>'] if parts else [], top


class _Grid:
    """Where the points of a panel lie in its drawing, and what arrows call them."""

    def __init__(self, panel: Panel, number: int) -> None:
        xs, ys = [round(p[0]) for p in panel.points] or [0], [round(p[1]) for p in panel.points] or [0]
        self.number, self.left, self.bottom = number, min(xs), min(ys)
        self.columns, self.rows = max(xs) - self.left + 1, max(ys) - self.bottom + 1
        self.width = max(self.columns * CELL + 2 * MARGIN, LETTER * len(panel.title) + MARGIN + 8)
        self.height = self.rows * CELL + 2 * MARGIN + LEGEND * len(panel.legend)

    def at(self, point: Place) -> Place:
        """The middle of a point's place."""
        return (MARGIN + (point[0] - self.left) * CELL + CELL / 2,
                MARGIN + (self.rows - 1 - point[1] + self.bottom) * CELL + CELL / 2)

    def path(self, corners: Sequence[Place]) -> str:
        """A closed line through places."""
        return "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in map(self.at, corners)) + " z"

    def name(self, point: Place) -> str:
        """What arrows call a point."""
        return place_name(self.number, point)


def _panel(panel: Panel, grid: _Grid, paint: Mapping[int, str], turns: Mapping[int, Turn]) -> str:
    if not panel.points:
        return f'<text x="{MARGIN}" y="16">{html.escape(panel.title)}: no instance</text>'
    parts = [f'<text x="{MARGIN}" y="16" font-weight="bold">{html.escape(panel.title)}</text>']
    tiles = cells_by_group(panel.colours)
    for group, cells in tiles.items():
        parts.append(f'<g class="tile" data-tile="{group}" fill="{paint[group]}"><title>'
                     f'{_tile_text(group, turns)}</title>{_area(panel, grid, group, cells)}</g>')
    faint = ' stroke-opacity="0.55"' if len(panel.arrows) > MANY_ARROWS else ""
    parts += [f'<g stroke="#555"{faint} marker-end="url(#head)">',
              *(_arrow(grid, source, sink) for source, sink in panel.arrows), '</g><g fill="#222">']
    for point in panel.points:
        x, y = grid.at(point)
        ink = f' fill="{panel.inks[point]}"' if point in panel.inks else ""
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}"{ink} data-name="{grid.name(point)}">'
                     f'<title>{_place_text(point)}</title></circle>')
    parts.append("</g>")
    if len(tiles) > 1:
        parts += _numbers(grid, tiles)
    return "".join([*parts, *_axes(panel, grid), *_legend(panel, grid)])


def _area(panel: Panel, grid: _Grid, group: int, cells: Sequence[tuple[int, int]]) -> str:
    """A tile: its polygons, or its cells and the outline around them."""
    if panel.shapes.get(group):
        lines = "".join(grid.path(polygon) for polygon in panel.shapes[group])
        return f'<path d="{lines}" fill-opacity="0.35" stroke="#444" stroke-width="1.4"/>'
    squares = "".join(grid.path(((x - 0.5, y - 0.5), (x + 0.5, y - 0.5), (x + 0.5, y + 0.5), (x - 0.5, y + 0.5)))
                      for x, y in cells)
    edges = "".join("M{:.1f},{:.1f} L{:.1f},{:.1f}".format(*grid.at(start), *grid.at(end))
                    for start, end in sorted(outlines(dict.fromkeys(cells, group))))
    return f'<path d="{squares}" fill-opacity="0.35"/><path d="{edges}" fill="none" stroke="#444" stroke-width="1.4"/>'


def _numbers(grid: _Grid, tiles: Mapping[int, Sequence[tuple[int, int]]]) -> list[str]:
    found = ['<g class="numbers" font-size="9" text-anchor="middle" fill="#000" stroke="#fff" stroke-width="2.5" '
             'paint-order="stroke" pointer-events="none">']
    for group, cells in tiles.items():
        x, y = grid.at(label_place(cells))
        found.append(f'<text x="{x:.1f}" y="{y + 3:.1f}" data-tile="{group}">{group}</text>')
    return [*found, "</g>"]


def _tile_text(group: int, turns: Mapping[int, Turn]) -> str:
    if group not in turns:
        return f"tile {group}"
    turn = turns[group]
    return f"tile {group}, step {turn.step}" + ("" if turn.thread is None else f", thread {turn.thread}")


def _place_text(point: Place) -> str:
    return f"({round(point[0])}, {round(point[1])})"


def _legend(panel: Panel, grid: _Grid) -> list[str]:
    top = grid.rows * CELL + 2 * MARGIN
    return [f'<circle cx="{MARGIN + 4}" cy="{top + LEGEND * n + 4}" r="{RADIUS}" fill="{colour}"/>'
            f'<text x="{MARGIN + 14}" y="{top + LEGEND * n + 8}">{html.escape(text)}</text>'
            for n, (colour, text) in enumerate(panel.legend)]


def _curve(source: Place, sink: Place, ends: str) -> str:
    """An arrow that rises over what lies between its ends."""
    (x1, y1), (x2, y2) = source, sink
    bend = min(x2 - x1, 60.0) if x2 > x1 else max(x2 - x1, -60.0)
    middle = (x1 + x2) / 2, (y1 + y2) / 2 - abs(bend) / 2
    length = hypot(x2 - middle[0], y2 - middle[1]) or 1.0
    x3, y3 = (x2 - (x2 - middle[0]) / length * RADIUS, y2 - (y2 - middle[1]) / length * RADIUS)
    return f'<path d="M{x1:g},{y1:g} Q{middle[0]:g},{middle[1]:g} {x3:.1f},{y3:.1f}" {ends}/>'


def _arrow(grid: _Grid, source: Place, sink: Place) -> str:
    """From the edge of one dot to the edge of the other, so that the head is seen."""
    (x1, y1), (x2, y2) = grid.at(source), grid.at(sink)
    length = hypot(x2 - x1, y2 - y1)
    dx, dy = ((x2 - x1) / length * RADIUS, (y2 - y1) / length * RADIUS) if length else (0.0, 0.0)
    return (f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}" '
            f'data-from="{grid.name(source)}" data-to="{grid.name(sink)}"/>')


def _axes(panel: Panel, grid: _Grid) -> list[str]:
    every_x, every_y = max(1, grid.columns // 10), max(1, grid.rows // 10)
    below = MARGIN + grid.rows * CELL + 14
    parts = []
    for i in range(0, grid.columns, every_x):
        x = MARGIN + i * CELL + CELL // 2
        parts.append(f'<text x="{x}" y="{below}" text-anchor="middle" fill="#777">{grid.left + i}</text>')
    for j in range(0, grid.rows, every_y):
        y = MARGIN + (grid.rows - 1 - j) * CELL + CELL // 2 + 4
        parts.append(f'<text x="{MARGIN - 6}" y="{y}" text-anchor="end" fill="#777">{grid.bottom + j}</text>')
    along, up = panel.axes
    place = (f'x="{MARGIN + grid.columns * CELL + 6}" y="{below}"' if len(along) < 4 else
             f'x="{MARGIN + grid.columns * CELL // 2}" y="{below + 14}" text-anchor="middle"')
    parts.append(f'<text {place}>{html.escape(along)}</text>')
    parts.append(f'<text x="6" y="{MARGIN - 6}">{html.escape(up)}</text>')
    return parts
