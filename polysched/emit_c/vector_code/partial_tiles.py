"""Register tiles that the bounds cut off: computed in full, on a copy of what they sum up.

Rewrite:  for i in [i0, i_end): for j in [j0, j_end): C[i][j] += A[i][k] * B_panel[k][j - j0]      (no full tile)
      ->  C_cut[row][column] = C[i0 + row][j0 + column]     for the points that are instances
          all points of the tile on C_cut; rows outside read what the nearest row inside reads
          C[i0 + row][j0 + column] = C_cut[row][column]     for the points that are instances

One piece of code serves every number of rows and columns.  What the other points compute is never kept; they read
nothing but panels, which have room for the whole tile, and elements that an instance reads as well.

Source: F. G. Van Zee, R. A. van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS Functionality", ACM TOMS
41(3), 2015, section 4.3 (edge cases of the micro-kernel).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Linear, Variable, constant, extreme, substitute, variable
from polysched.emit_c.loop_ir.loops import Edge, RegisterTile
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import (
    Lanes,
    Point,
    Reach,
    is_contiguous,
    is_whole,
    iterators_at,
    packed_at,
)
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.statements import braced
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.turned_copies import Squares, TurnedCopy
from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from polysched.records import dataclass
from polysched.scop.body import Binary, Expr, Load, children, statement_expressions, walk
from polysched.scop.scop import Scop


@dataclass(frozen=True, kw_only=True)
class CutTile:
    """What surrounds the code of a tile of which only some points are instances.

    Parameters
    ----------
    tile : the tile, with `within`.
    scop : holds the bodies.
    sums : per array that the tile sums up, its element with the edge variables free.
    place : prints an element in memory.
    index, taken, in_use : print linear forms; names that must not be made up.
    types, lanes : declares vector types; the lanes of every vector.
    around : the copy is declared around several tiles, where no variables stand at its first point.
    """

    tile: RegisterTile
    scop: Scop
    sums: Mapping[str, Reach]
    place: Callable[[Reach], CText]
    index: IndexPrinter
    taken: TakenNames
    in_use: frozenset[str]
    types: VectorTypes
    lanes: int
    around: bool = False

    def buffer(self, array: str) -> str:
        """The name of the copy of an array's elements."""
        return self.taken.fresh(f"{identifier_of(array)}_cut", self.in_use)

    def element(self, array: str, point: Point) -> CText:
        """Where in the copy a point has its element."""
        offsets = dict(point.offsets)
        places = [str(offsets.get(e.variable, 0)) for e in self.tile.edges]
        if self.tile.copied_from is not None:
            rows = self.tile.edges[0].variable
            places[0] = self.index.bound(variable(rows) - self.tile.copied_from + offsets.get(rows, 0)).code
        return CText(self.buffer(array) + "".join(f"[{place}]" for place in places))

    def before(self) -> list[str]:
        """The rows that are read, and the copy."""
        if self.tile.copied_from is not None:
            return []
        lines = [f"const long {name} = {self.index.bound(value)};" for name, value in self._rows()]
        for array in self.sums:
            if self._is_transposed(array):
                turned = self._turned(array)
                if self._is_square(array):
                    lines += [turned.declaration(), *turned.into_lanes(self._memory_of(array))]
                    continue
                lines += [*turned.declarations(), *self._moves(array, "{copy} = {memory};"), *turned.into_lanes()]
            else:
                extents = "".join(f"[{edge.count}]" for edge in self.tile.edges)
                lines += [f"{self.scop.array(array).dtype.c_name} {self.buffer(array)}{extents}"
                          f" __attribute__((aligned({ALIGNMENT_BYTES}))) = {{0}};",
                          *self._moves(array, "{copy} = {memory};")]
        return lines

    def after(self) -> list[str]:
        """The way back."""
        if self.tile.copied_from is not None:
            return []
        lines: list[str] = []
        for array in self.sums:
            if self._is_transposed(array) and self._is_square(array):
                lines += self._turned(array).into_rows(self._memory_of(array))
                continue
            lines += self._turned(array).into_rows() if self._is_transposed(array) else []
            lines += self._moves(array, "{memory} = {copy};")
        return lines

    def _is_transposed(self, array: str) -> bool:
        return self.sums[array].lanes is Lanes.SPREAD and len(self.tile.edges) == 2

    def _is_square(self, array: str) -> bool:
        """Whether rows of memory are whole vectors, so that nothing but them is moved."""
        return self.around and self.tile.edges[0].count % self.lanes == 0 and self._lies_in_rows(array)

    def _memory_of(self, array: str) -> Callable[[str, str], str]:
        """The text of an element in memory by its column and row, which may be sums in C."""
        rows, columns = self.tile.edges
        where = self.sums[array]

        def memory(column: str, row: str) -> str:
            away = {rows.variable: self._first(rows) + variable(row),
                    columns.variable: self._first(columns) + variable(column)}
            return self.place(replace(where, subscripts=tuple(
                substitute(form, away) for form in where.subscripts or ()))).code
        return memory

    def _first(self, edge: Edge) -> Linear:
        return edge.base if self.around else variable(edge.variable)

    def _turned(self, array: str) -> TurnedCopy:
        rows, columns = (edge.count for edge in self.tile.edges)
        squares = Squares(dtype=self.scop.array(array).dtype, rows=-(-rows // self.lanes) * self.lanes,
                          columns=columns, lanes=self.lanes, types=self.types,
                          fresh=lambda wish: self.taken.fresh(wish, self.in_use))
        return TurnedCopy(name=self.buffer(array), rows_name=self._rows_buffer(array), squares=squares)

    def _rows_buffer(self, array: str) -> str:
        """The name of the copy that is in the order of memory."""
        return self.taken.fresh(f"{identifier_of(array)}_rows", self.in_use)

    def read_point(self, point: Point) -> Point:
        """The point as operands that no panel holds are read there."""
        rows = {edge.variable: self._row_name(edge, offset) for edge in self._moved_rows()
                for name, offset in point.offsets if name == edge.variable and (offset or self._starts_later(edge))}
        return replace(point, renamed=tuple(rows.items()))

    def _moves(self, array: str, assignment: str) -> list[str]:
        names = {edge.variable: self.taken.fresh(wish, self.in_use)
                 for edge, wish in zip(self.tile.edges, _offset_names(len(self.tile.edges)), strict=True)}
        away = {edge.variable: self._first(edge) + variable(names[edge.variable]) for edge in self.tile.edges}
        where = self.sums[array]
        forms = tuple(substitute(form, away) for form in where.subscripts or ())
        turned = self._is_transposed(array)
        edges = tuple(zip(self.tile.edges, self.tile.within, strict=True))
        edges = edges[::-1] if turned else edges
        copy = (self._rows_buffer(array) if turned else self.buffer(array)) + "".join(
            f"[{names[edge.variable]}]" for edge, _ in edges)
        lines = [assignment.format(copy=copy, memory=self.place(replace(where, subscripts=forms)))]
        if turned and self._lies_in_rows(array):
            rows, _ = edges[-1]
            first = tuple(substitute(form, {names[rows.variable]: constant(0)}) for form in forms)
            row, memory = copy.rpartition("[")[0], self.place(replace(where, subscripts=first))
            size = rows.count * self.scop.array(array).dtype.bytes
            copied, edges = assignment.format(copy=f"{row}[0]", memory=memory), edges[:-1]
            lines = ["__builtin_memcpy(&{}, &{}, {});".format(*copied.rstrip(";").split(" = "), size)]
        for edge, (lower, upper) in reversed(edges):
            name, here = names[edge.variable], self._first(edge)
            start = "0" if lower == edge.base else self.index.bound(lower - here).code
            end = str(edge.count) if upper == edge.base + edge.count else self.index.bound(upper - here).code
            if edge is self._innermost(array):  # a constant length lets the compiler take whole vectors
                inside = [f"{name} >= {start}"] * (start != "0") + [f"{name} < {end}"] * (end != str(edge.count))
                lines = braced(f"if ({' && '.join(inside)})", lines) if inside else lines
                start, end = "0", str(edge.count)
            lines = braced(f"for (long {name} = {start}; {name} < {end}; {name}++)", lines)
        return lines

    def _innermost(self, array: str) -> Edge:
        """The edge that the copy of an array follows innermost."""
        return self.tile.edges[0 if self._is_transposed(array) else -1]

    def _lies_in_rows(self, array: str) -> bool:
        """Whether the rows of a whole tile are neighbours in memory, so that one call copies them."""
        forms, name = self.sums[array].subscripts or (), self.tile.edges[0].variable
        local = any(t.array == array for instance in instances(self.tile.body) for t in instance.temporaries)
        return (is_whole(self.tile) and not local and is_contiguous(self.scop.array(array)) and bool(forms)
                and forms[-1].coefficient(Variable(name)) == 1
                and not any(depends_on(form, frozenset({name})) for form in forms[:-1]))

    def _moved_rows(self) -> tuple[Edge, ...]:
        """The edges along which an operand moves that no panel holds."""
        if is_whole(self.tile):
            return ()
        moving = list(_operand_forms(self.tile, self.scop, frozenset(self.sums)))
        return tuple(edge for edge in self.tile.edges if not edge.simd
                     and any(depends_on(form, frozenset({edge.variable})) for form in moving))

    def _rows(self) -> Iterator[tuple[str, Linear]]:
        for edge, (lower, upper) in zip(self.tile.edges, self.tile.within, strict=True):
            if edge not in self._moved_rows():
                continue
            for offset in range(0 if self._starts_later(edge) else 1, edge.count):
                row = variable(edge.variable) + offset
                last = extreme("min", [row, upper - 1]) if upper != edge.base + edge.count else row
                yield self._row_name(edge, offset), extreme("max", [lower, last]) if self._starts_later(edge) else last

    def _starts_later(self, edge: Edge) -> bool:
        lower, _ = self.tile.within[self.tile.edges.index(edge)]
        return lower != edge.base

    def _row_name(self, edge: Edge, offset: int) -> str:
        return self.taken.fresh(f"{edge.variable}_{offset}", self.in_use)


def sums_of(tile: RegisterTile, scop: Scop, accesses: Sequence[TileAccess],
            levels: Mapping[str, int], lanes: int) -> dict[str, Reach]:
    """The elements that a cut tile sums up, by array.

    Parameters
    ----------
    levels : per array, the loop around which its elements live in registers.
    lanes : of a vector.

    Raises
    ------
    NotVectorised : a point outside could change what is kept, read what does not exist, or trap.
    """
    sums: dict[str, Reach] = {}
    count = prod(edge.count for edge in tile.edges)
    for access in accesses:
        array = access.generic.array
        if access.writes and levels.get(array) != 0:
            raise NotVectorised(f"{array} is written outside of registers")
        if array not in levels:
            continue
        if sums.setdefault(array, access.generic) != access.generic:
            raise NotVectorised(f"points of a cut tile share elements of {array}")
        if sum(lanes if key.lanes is Lanes.SPREAD else key.span for key in access.keys) != count:
            raise NotVectorised(f"points of a cut tile share elements of {array}")
    simd = frozenset(edge.variable for edge in tile.edges if edge.simd)
    if any(depends_on(form, simd) for form in _operand_forms(tile, scop, frozenset(sums))):
        raise NotVectorised("an operand beyond the edge may not exist")
    if _divides_integers(tile, scop):
        raise NotVectorised("an integer division beyond the edge may trap")
    return sums


def _divides_integers(tile: RegisterTile, scop: Scop) -> bool:
    tops = (top for instance in instances(tile.body)
            for top in statement_expressions(statement_at(scop, instance).body))
    return any(isinstance(e, Binary) and e.op in ("/", "%") and e.dtype.is_integer for top in tops for e in walk(top))


def _operand_forms(tile: RegisterTile, scop: Scop, sums: frozenset[str]) -> Iterator[Linear]:
    """The subscripts of what is read from neither panels nor registers."""
    for instance in instances(tile.body):
        statement = statement_at(scop, instance)
        iterators = iterators_at(scop, instance, Point(()))
        packed = frozenset(packed_at(tile, instance.statement, Point(())))
        for top in statement_expressions(statement.body):
            for load in _loads(top, packed):
                access = statement.access(load.reference)
                if access.array in sums:
                    continue
                for subscript in access.subscripts:
                    form = linear_form(subscript, iterators)
                    if form is None:
                        raise NotVectorised("a subscript is not linear")
                    yield form


def _loads(expr: Expr, packed: frozenset[Expr]) -> Iterator[Load]:
    if expr in packed:
        return
    if isinstance(expr, Load):
        yield expr
    for child in children(expr):
        yield from _loads(child, packed)


def _offset_names(count: int) -> tuple[str, ...]:
    """What the offsets in a tile of so many edges are called."""
    return ("row", "column") if count == 2 else tuple(f"offset_{n}" for n in range(count))
