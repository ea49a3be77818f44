"""Rows as lanes: square blocks of an array that is read row by row are transposed in registers.

Rewrite:  for j: for r in rows: s_r += A[i + r][j] * x[j]        (one element of every row at a time)
      ->  for j by W: { load A[i + r][j ... j + W - 1] for every r < W;  transpose in log2(W) rounds of shuffles;
                        s += column_0 * x[j];  s += column_1 * x[j + 1];  ... }

Every row adds in its own order, so every number is as before; the memory is read in whole vectors.

Source: the rounds exchange the halves of ever larger blocks, J. O. Eklundh, "A fast computer method for matrix
transposing", IEEE Transactions on Computers C-21(7), 1972.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Variable, substitute, variable, variables
from polysched.emit_c.loop_ir.loops import Edge, RegisterTile
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach, is_contiguous
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.vector_types import VectorTypes, has_vectors
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.emit_c.vector_code.vector_expressions import vector_at
from polysched.records import dataclass
from polysched.scop.scop import Scop

MOST_BLOCKS = LIMITS.most_transposed_blocks


def is_square(tile: RegisterTile, lanes: int) -> bool:
    """Whether a tile has a simd edge over rows, and then as many columns as vectors have lanes."""
    if len(tile.edges) != 2 or lanes < 2:
        return False
    rows, columns = tile.edges
    return rows.simd and not columns.simd and columns.count == lanes and columns.is_own_variable


@dataclass(frozen=True, kw_only=True)
class Transposition:
    """The blocks that one tile transposes.

    Parameters
    ----------
    tile : a simd edge over rows, and an edge over as many columns as a vector has lanes.
    place : the C text of an element.
    in_use : names of the loop variables around and inside the tile.
    """

    tile: RegisterTile
    accesses: Sequence[TileAccess]
    lanes: int
    scop: Scop
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    place: Callable[[Reach], CText]

    def covers_all(self) -> bool:
        """Whether some access, and each whose lanes lie apart, is read from a transposed block."""
        apart = [a for a in self.accesses if a.generic.lanes not in (Lanes.UNIT, Lanes.UNIFORM)]
        blocks = self._blocks()
        return 0 < len(blocks) <= MOST_BLOCKS and all(any(a.generic == b.generic for b in blocks) for a in apart)

    def columns(self) -> tuple[list[str], dict[Reach, Piece]]:
        """The lines that load and transpose, and the vector that each access reads at each point."""
        lines: list[str] = []
        pieces: dict[Reach, Piece] = {}
        number = 0
        for access in self._blocks():
            dtype = self.scop.array(access.generic.array).dtype
            for first in range(0, len(access.keys), self.lanes):
                keys = access.keys[first:first + self.lanes]
                stem = f"{identifier_of(access.generic.array)}_{number}"
                number += 1
                names, made = self._transposed(keys[0], stem)
                lines += made
                pieces |= {key: Piece(CText(name), dtype, True) for key, name in zip(keys, names, strict=True)}
        return lines, pieces

    def _blocks(self) -> list[TileAccess]:
        """The accesses that read blocks, each once."""
        if not is_square(self.tile, self.lanes):
            return []
        rows, columns = self.tile.edges
        found = {a.generic: a for a in self.accesses if self._is_block(a, rows, columns)}
        return list(found.values())

    def _is_block(self, access: TileAccess, rows: Edge, columns: Edge) -> bool:
        forms, array = access.generic.subscripts, self.scop.array(access.generic.array)
        if forms is None or access.generic.lanes is not Lanes.SPREAD or not has_vectors(array.dtype) or any(
                a.writes for a in self.accesses if a.generic.array == array.name):
            return False
        along = forms[-1].coefficient(Variable(columns.variable)) == 1 and rows.variable not in variables(forms[-1])
        apart = not any(columns.variable in variables(form) for form in forms[:-1])
        return is_contiguous(array) and along and apart and len(access.keys) == rows.count // self.lanes * self.lanes

    def _transposed(self, corner: Reach, stem: str) -> tuple[list[str], list[str]]:
        """The names of the columns of the block at a corner, and the lines that make them."""
        kind = self.types.name(self.scop.array(corner.array).dtype, self.lanes)
        names = [self._name(f"{stem}_row_{row}") for row in range(self.lanes)]
        lines = [f"const {kind} {name} = {vector_at(self.place(self._row(corner, row)), kind)};"
                 for row, name in enumerate(names)]
        size = 1
        while size < self.lanes:
            last = 2 * size == self.lanes
            made = [self._name(f"{stem}_{'column' if last else f'by_{2 * size}'}_{k}") for k in range(self.lanes)]
            for k in range(self.lanes):
                low, high = k & ~size, k | size
                picked = ", ".join(str(n) for n in halves(self.lanes, size, upper=bool(k & size)))
                value = f"__builtin_shufflevector({names[low]}, {names[high]}, {picked})"
                lines.append(f"const {kind} {made[k]} = {value};")
            names, size = made, 2 * size
        return names, lines

    def _row(self, corner: Reach, row: int) -> Reach:
        rows = self.tile.edges[0].variable
        further = {rows: variable(rows) + row}
        forms = tuple(substitute(form, further) for form in corner.subscripts or ())
        return Reach(corner.array, forms, Lanes.UNIT, self.lanes)

    def _name(self, wish: str) -> str:
        return self.taken.fresh(wish, self.in_use)


def halves(lanes: int, size: int, *, upper: bool) -> Iterator[int]:
    """Which elements of a pair of vectors a round takes: for `size` 2 of 8 lanes 0 1 8 9 4 5 12 13, or those behind."""
    for k in range(lanes):
        if upper:
            yield lanes + k if k & size else k + size
        else:
            yield lanes + k - size if k & size else k
