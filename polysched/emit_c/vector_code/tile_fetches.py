"""What a register tile fetches into the caches before it is read: panels' rows, rows of later loops, the next tile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Variable, growth, substitute
from polysched.emit_c.loop_ir.loops import Panel, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Point, Reach, packed_at, reach
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.emit_c.scalar_code.heap import constant_elements, constant_extents
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target.target import Target
from polysched.tiling.footprints.streams import beyond, fetched, fetched_ahead

ROWS_AHEAD = LIMITS.rows_ahead
LEAST_ROWS = LIMITS.least_fetching_rows


@dataclass(frozen=True, kw_only=True)
class TileFetches:
    """The prefetches of one register tile.

    Parameters
    ----------
    tile : fetches.
    scop : holds the arrays.
    place : the C text of an element.
    printer_for : the scalar printer of a statement at the tile's first point.
    around : the variable of the loop right around the tile.
    target : the machine, for its caches.
    """

    tile: RegisterTile
    scop: Scop
    place: Callable[[Reach], CText]
    printer_for: Callable[[StatementInstance], ExpressionPrinter]
    around: str | None
    target: Target

    def next_tile(self, keys: Iterable[Reach]) -> Iterator[str]:
        """The places of registers in the next tile, fetched while this one is computed."""
        edge = next((edge for edge in self.tile.edges if edge.variable == self.tile.ahead), None)
        if edge is None or edge.count < 2 or not self.tile.panels:
            return
        for key in keys:
            text, forms = self.place(key).code, key.subscripts or ()
            steps = {at: growth(form, edge.variable) for at, form in enumerate(forms)}
            parts = {at: _part(text, at, len(forms)) for at, step in steps.items() if step != 0}
            if parts and None not in (*steps.values(), *parts.values()):
                ahead = " + ".join(f"{(steps[at] or 0) * edge.count} * (long)sizeof({part})"
                                   for at, part in parts.items())
                yield f"__builtin_prefetch({beyond(f'&{text}', ahead)}, 1);"

    def panel_rows(self) -> Iterator[str]:
        """Rows of panels too long for the first cache, fetched into it while rows before them are used."""
        edge = next((edge for edge in self.tile.edges if edge.simd), None)
        around = frozenset(loop.variable for loop in self.tile.loops)
        for panel in self.tile.panels if edge is not None and around else ():
            step = panel.subscripts[-2].coefficient(Variable(self.tile.loops[-1].variable)) if panel.in_lanes else 0
            inside = panel.subscripts[len(panel.subscripts) - len(panel.extents):]
            rows = prod(n for n, form in zip(panel.extents, inside, strict=True) if depends_on(form, around))
            if step != 1 or edge is None:
                continue
            width = panel.value.dtype.bytes
            for instance in instances(self.tile.body):
                if instance.statement != panel.statement:
                    continue
                operand = packed_at(self.tile, instance.statement, Point(()))[panel.value]
                element = self.printer_for(instance).panel_element(operand)
                yield from fetched_ahead(f"&{element}", row_bytes=edge.count * width,
                                         panel_bytes=rows * panel.extents[-1] * width,
                                         read_again=self._is_read_again(panel), target=self.target)

    def rows_in_place(self) -> Iterator[str]:
        """Later rows of large arrays whose rows no prefetcher follows, which vectors read where they lie."""
        edge = next((edge for edge in self.tile.edges if edge.simd), None)
        others = [edge.count for edge in self.tile.edges if not edge.simd]
        if edge is None or not self.tile.loops or prod(others) < LEAST_ROWS:
            return
        loop = self.tile.loops[-1]
        length = loop.upper - loop.lower
        if loop.step != 1 or (length.is_constant and length.constant <= ROWS_AHEAD):
            return
        for key in dict.fromkeys(self._read_in_place(edge.variable)):
            row_bytes = self._row_bytes(key, loop.variable)
            if abs(row_bytes) >= LIMITS.least_page_row_bytes:
                yield from fetched(f"&{self.place(key)}", bytes_ahead=ROWS_AHEAD * row_bytes,
                                   count_bytes=self.scop.array(key.array).dtype.bytes * edge.count,
                                   line_bytes=self.target.line_bytes)

    def _read_in_place(self, lanes: str) -> Iterator[Reach]:
        """Where the tile's first point reads vectors of arrays that nothing in it writes, outside of panels."""
        private = {temporary.array for temporary in self.tile.private}
        written = {a.array for i in instances(self.tile.body) for a in statement_at(self.scop, i).writes}
        for instance in instances(self.tile.body):
            printer = self.printer_for(instance)
            buffered = private | written | {temporary.array for temporary in instance.temporaries}
            for access in printer.statement.reads:
                if access.array in buffered or printer.packed_access(access) is not None:
                    continue
                found = reach(self.scop.array(access.array), access, printer.iterators, lanes, 2)
                if found.lanes is Lanes.UNIT:
                    yield found

    def _row_bytes(self, place: Reach, name: str) -> int:
        """How far elements lie apart from one iteration of a loop to the next; 0 where that or the array is small."""
        array = self.scop.array(place.array)
        extents, forms = constant_extents(array), place.subscripts or ()
        elements = constant_elements(array)
        if elements is None or elements * array.dtype.bytes < self.target.kept_bytes(2) or (
                len(forms) != len(extents)):
            return 0
        steps = [growth(form, name) for form in forms]
        inner = [prod(extent or 0 for extent in extents[k + 1:]) for k in range(len(extents))]
        return 0 if None in steps else array.dtype.bytes * sum(
            (step or 0) * count for step, count in zip(steps, inner, strict=True))

    def later_rows(self) -> Iterator[str]:
        """Rows of a later loop."""
        for row in self.tile.fetched:
            element = self.place(Reach(row.array, row.subscripts, Lanes.UNIFORM, 1))
            yield from fetched(f"&{element.code}", bytes_ahead=row.bytes_ahead,
                               count_bytes=self.scop.array(row.array).dtype.bytes * self.tile.edges[0].count,
                               line_bytes=self.target.line_bytes)

    def _is_read_again(self, panel: Panel) -> bool:
        """Whether the loop right around the tile goes on to a tile that reads the same of a panel."""
        bases = {edge.variable: edge.base for edge in self.tile.edges}
        return self.around is not None and not any(
            depends_on(substitute(form, bases), frozenset({self.around})) for form in panel.subscripts)


def _part(element: str, at: int, rank: int) -> str | None:
    """C for what one subscript of an element moves over: the element without the brackets behind that subscript.

    None where the last `rank` parts of the text are not brackets.
    """
    starts: list[int] = []
    depth = 0
    for place in range(len(element) - 1, -1, -1):
        depth += (element[place] == "]") - (element[place] == "[")
        if depth == 0:
            if element[place] != "[":
                return None
            starts.append(place)
        if len(starts) == rank:
            return element[:[*reversed(starts), len(element)][at + 1]]
    return None
