"""Pictures of memory: the elements that each tile reads and writes, and the cache lines that come with them."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.html import drawing
from polysched.scop.picture import MARGIN, Turn, svg_document
from polysched.scop.pictures.page import Live, controls, drawing_of, page, script_of_this_folder, turning_data
from polysched.scop.shown import Shown

CELL = 12
GAP = 30
READ, WRITTEN, BOTH, FETCHED = "#4477aa", "#ee6677", "#aa3377", "#f5e9a0"


@dataclass(frozen=True, kw_only=True)
class Memory:
    """An array as it lies in memory: elements in rows, the first at a line's beginning.

    Parameters
    ----------
    columns : elements of a row of the drawing.
    element_bytes, line_bytes : of an element and of a cache line.
    """

    name: str
    elements: int
    columns: int
    element_bytes: int
    line_bytes: int

    @property
    def rows(self) -> int:
        return -(-self.elements // self.columns)

    def line(self, element: int) -> int:
        """The line in which an element begins."""
        return element * self.element_bytes // self.line_bytes

    def elements_of(self, line: int) -> range:
        """The elements that begin in a line."""
        first = -(-line * self.line_bytes // self.element_bytes)
        end = -(-(line + 1) * self.line_bytes // self.element_bytes)
        return range(first, min(end, self.elements))


@dataclass(frozen=True, kw_only=True)
class Touched:
    """What one tile touches: elements by array, counted from the array's beginning."""

    reads: Mapping[str, frozenset[int]]
    writes: Mapping[str, frozenset[int]]

    def elements(self, array: str) -> frozenset[int]:
        """Those read or written."""
        return self.reads.get(array, frozenset()) | self.writes.get(array, frozenset())


@dataclass(frozen=True, kw_only=True)
class MemoryPicture(Shown):
    """The arrays of a program; `svg` shows one tile's elements and lines, `page` any tile's.

    Parameters
    ----------
    tiles : what each tile touches, by its number.
    shown : the tile of the static drawing.
    turns, order : when tiles run, as in `Picture`.
    note : what a reader must know.
    """

    arrays: tuple[Memory, ...]
    tiles: Mapping[int, Touched]
    shown: int
    turns: Mapping[int, Turn]
    order: str = ""
    note: str = ""

    def of(self, tile: int) -> MemoryPicture:
        """Another tile's.

        Raises
        ------
        UsageError : there is no such tile.
        """
        if tile not in self.tiles:
            raise UsageError(f"no tile {tile}", hint=f"tiles are 0 to {max(self.tiles)}")
        return replace(self, shown=tile)

    def said(self, tile: int) -> list[str]:
        """For instance `a: 24 elements in 6 lines of 64 bytes, 50% of their bytes used`, a line an array."""
        return [text for memory in self.arrays if (text := _said(memory, self.tiles[tile].elements(memory.name)))]

    @property
    def svg(self) -> str:
        """A self-contained SVG document of one tile."""
        parts, top, width = [], MARGIN, 0
        touched = self.tiles[self.shown]
        for memory in self.arrays:
            text, lines = _drawn(memory, touched, top)
            parts.append(text)
            width = max(width, memory.columns * CELL + 2 * MARGIN, 8 * len(memory.name) + 2 * MARGIN)
            top += lines * CELL + GAP
        legend = (("read", READ), ("written", WRITTEN), ("both", BOTH), ("comes with its line", FETCHED))
        for number, (text, colour) in enumerate(legend):
            at = MARGIN + 18 * number
            parts.append(f'<rect x="{MARGIN}" y="{top - GAP + at - 24}" width="{CELL}" height="{CELL}" fill="{colour}" '
                         f'stroke="#999"/><text x="{MARGIN + 18}" y="{top - GAP + at - 14}">{text}</text>')
        below = top - GAP + MARGIN + 18 * len(legend)
        for number, text in enumerate([f"tile {self.shown}", *self.said(self.shown)]):
            parts.append(f'<text x="{MARGIN}" y="{below + 16 * number}" class="counted">{html.escape(text)}</text>')
            width = max(width, MARGIN + 7 * len(text))
        return svg_document("".join(parts), width=width, height=below + 16 * (1 + len(self.said(self.shown))))

    @property
    def page(self) -> str:
        """An HTML page with a slider over the tiles, in the order in which they run."""
        order = sorted(self.tiles, key=lambda tile: (self.turns[tile].step if tile in self.turns else 0, tile))
        own = {tile: Turn(number) for number, tile in enumerate(order)}
        frames = [{"tile": tile, "step": self.turns[tile].step if tile in self.turns else None, "said": self.said(tile),
                   "reads": _names(self.tiles[tile].reads), "writes": _names(self.tiles[tile].writes),
                   "lines": [f"{m.name}:{line}" for m in self.arrays
                             for line in sorted({m.line(e) for e in self.tiles[tile].elements(m.name)})]}
                  for tile in order]
        data = {**turning_data(own, order, {}), "frames": frames, "shown": order.index(self.shown), "hint": ""}
        said = "Tiles in the order in which one thread runs them." if len(order) > 1 else ""
        title = f"Cache lines that tiles touch: {', '.join(m.name for m in self.arrays)}"
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return page(title, controls(own, said, order, None) + drawing_of(self.svg) + note, data,
                    [script_of_this_folder("memory.js")])

    def live(self) -> Live:
        """For notebooks: the page in a frame, instead of an image."""
        return Live(page=self.page, text=str(self))

    def _repr_html_(self) -> str:
        return drawing(self.svg, alt=str(self))

    def __str__(self) -> str:
        lines = [f"tile {self.shown} of {len(self.tiles)}", *self.said(self.shown), *([self.note] if self.note else [])]
        return "".join(f"{line}\n" for line in lines)


def _said(memory: Memory, elements: frozenset[int]) -> str:
    if not elements:
        return ""
    lines = {memory.line(e) for e in elements}
    held = sum(min(memory.line_bytes, memory.elements * memory.element_bytes - line * memory.line_bytes)
               for line in lines)
    plural = "" if len(lines) == 1 else "s"
    return (f"{memory.name}: {len(elements)} elements in {len(lines)} line{plural} of {memory.line_bytes} bytes, "
            f"{100 * len(elements) * memory.element_bytes / held:.0f}% of their bytes used")


def _names(elements: Mapping[str, frozenset[int]]) -> list[str]:
    return [f"{array}:{element}" for array, found in elements.items() for element in sorted(found)]


def _drawn(memory: Memory, touched: Touched, top: int) -> tuple[str, int]:
    """The grid of an array, with the borders of its lines, and its height in rows."""
    parts = [f'<text x="{MARGIN}" y="{top - 8}" font-weight="bold">{html.escape(memory.name)}</text>'
             '<g stroke="#ddd" stroke-width="0.5">']
    reads = touched.reads.get(memory.name, frozenset())
    writes = touched.writes.get(memory.name, frozenset())
    fetched = {memory.line(e) for e in reads | writes}
    borders = []
    for element in range(memory.elements):
        row, column = divmod(element, memory.columns)
        x, y = MARGIN + column * CELL, top + row * CELL
        line = memory.line(element)
        colour = (BOTH if element in reads and element in writes else READ if element in reads else
                  WRITTEN if element in writes else FETCHED if line in fetched else "#fff")
        name = html.escape(memory.name)
        parts.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{colour}" '
                     f'data-element="{name}:{element}" data-line="{name}:{line}"/>')
        if element == memory.elements_of(line).start:
            borders.append(f"M{x},{y} v{CELL}")
    width, rows = memory.columns * CELL, memory.rows
    frame = "".join(f"M{MARGIN},{top + row * CELL} h{width}" for row in range(rows + 1))
    return ("".join([*parts, "</g>", f'<path d="{frame}" stroke="#bbb" stroke-width="0.5" fill="none"/>',
                     f'<path d="{"".join(borders)}" stroke="#333" stroke-width="1.2" fill="none"/>']), rows)
