"""What is at hand while the body of a register tile is printed: registers, and values that were computed before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import count

from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.register_tiles.tile_accesses import Reach
from polysched.emit_c.scalar_code.c_text import CText
from polysched.records import dataclass
from polysched.scop.dtypes import DType


@dataclass(frozen=True)
class Piece:
    """Text of a value: one scalar for all lanes, or a vector; of `dtype` either way.

    Parameters
    ----------
    in_order : a scalar that is updated by each lane, one after the other.
    """

    text: CText
    dtype: DType
    vector: bool
    in_order: bool = False


@dataclass(frozen=True, kw_only=True)
class TileScope:
    """Registers and bound values of one iteration of a tile.

    Parameters
    ----------
    registers : array elements that live in variables across the loops of the tile.
    written : arrays that the tile writes; their elements are never bound, only held in registers.
    taken : names that the bound values must not take.
    in_use : names of loop variables and registers.
    lines : declarations of the bound values, in order.
    bound : values by their text.
    declared : names of all bound values.
    own : those of the registers that are no elements of memory: partial results, temporaries of one iteration.
    """

    registers: Mapping[Reach, Piece]
    written: frozenset[str]
    taken: TakenNames
    in_use: frozenset[str]
    lines: list[str] = field(default_factory=list)
    bound: dict[str, Piece] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    own: frozenset[Reach] = frozenset()

    def held(self, where: Reach) -> Piece | None:
        """The register that holds an element, if one does."""
        return self.registers.get(where)

    def is_read_only(self, array: str) -> bool:
        """Whether the tile never writes the array."""
        return array not in self.written

    def bind(self, wish: str, piece: Piece, type_name: str) -> Piece:
        """A variable with the value, the same one for the same text."""
        text = piece.text.code
        if text.isidentifier():
            return piece
        if text not in self.bound:
            self.bound[text] = self.declare(wish, piece, type_name)
        return self.bound[text]

    def declare(self, wish: str, piece: Piece, type_name: str) -> Piece:
        """A new variable with the value as it is now; for what later statements may change."""
        stem, used = identifier_of(wish), self.in_use | self.declared
        name = next(n for k in count() if (n := f"{stem}_{k}") == self.taken.fresh(n, used))
        self.declared.add(name)
        self.lines.append(f"const {type_name} {name} = {piece.text};")
        return Piece(CText(name), piece.dtype, piece.vector)
