"""Elements that live in registers around loops of a tile: how they are loaded, and stored back.

What a tile writes under conditions only is stored where its bits have changed.

Rewrite:  R[i] = R_held;  ->  for every lane: if (the bits of R_held[lane] are others than at first) R[i + lane] = ...;

What no condition picks may be read-only, or another thread's, so no old value is stored.  An element that the program
sets to its old value keeps it without a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from polysched.emit_c.bodies.array_bounds import can_be_written
from polysched.emit_c.loop_ir.loops import RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import Point, Reach, points
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.vector_code.partial_results import other_bits
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.emit_c.vector_code.vector_expressions import NotVectorised, vector_at
from polysched.records import dataclass
from polysched.scop.body import unconditional_references
from polysched.scop.scop import Access, Scop


@dataclass(frozen=True, kw_only=True)
class ChangedElements:
    """The elements of one tile that conditions may leave alone.

    Parameters
    ----------
    tile : whose statements write.
    scop : holds the bodies.
    lanes : of every vector.
    reach : where an access of a statement goes at a point.
    place : prints an element in memory.
    type_name : the C type of a register.
    mask : the C type of a comparison of elements of so many bits, in so many lanes.
    fresh : a name that nothing else has.
    """

    tile: RegisterTile
    scop: Scop
    lanes: int
    reach: Callable[[StatementInstance, Point, Access], Reach]
    place: Callable[[Reach], CText]
    type_name: Callable[[Reach, Piece], str]
    mask: Callable[[int, int], str]
    fresh: Callable[[str], str]

    @cached_property
    def _writes(self) -> list[tuple[StatementInstance, Access, bool]]:
        """What the statements write, each with whether its old value may be written back in every instance."""
        made = []
        for instance in instances(self.tile.body):
            statement = statement_at(self.scop, instance)
            certain = frozenset(unconditional_references(statement.body))
            made += [(instance, a, a.reference in certain or can_be_written(self.scop, statement, a))
                     for a in statement.writes]
        return made

    @cached_property
    def arrays(self) -> frozenset[str]:
        """Arrays of which conditions may leave alone all elements that the tile writes."""
        return frozenset(a.array for _, a, _ in self._writes) - {a.array for _, a, certain in self._writes if certain}

    def among(self, written: frozenset[Reach]) -> frozenset[Reach]:
        """Those of the written elements that conditions may leave alone."""
        if all(certain for _, _, certain in self._writes):
            return frozenset()
        return written - {self.reach(instance, point, access) for instance, access, certain in self._writes if certain
                          for point in points(self.tile.edges, self.lanes)}

    def declaration(self, key: Reach, piece: Piece) -> str:
        """What a register holds first, under a name of its own."""
        return f"const {self.type_name(key, piece)} {self._before(piece)} = {piece.text};"

    def stores(self, key: Reach, piece: Piece) -> Iterator[str]:
        """A register back into memory, where its value is another than at first."""
        place = self.place(key)
        if not piece.vector:
            yield f"if ({other_bits(piece.text.code, self._before(piece), piece.dtype)}) {place} = {piece.text};"
            return
        mask, lane, changes = self.mask(piece.dtype.bits, key.span), self.fresh("lane"), self.fresh(
            f"{piece.text}_changes")
        yield f"const {mask} {changes} = ({mask}){piece.text} != ({mask}){self._before(piece)};"
        yield f"for (int {lane} = 0; {lane} < {key.span}; {lane}++)"
        yield f"  if ({changes}[{lane}]) (&{place})[{lane}] = {piece.text}[{lane}];"

    def _before(self, piece: Piece) -> str:
        return self.fresh(f"{piece.text}_before")


@dataclass(frozen=True, kw_only=True)
class HeldElements:
    """The registers of one tile.

    Parameters
    ----------
    registers : by element.
    levels : per array, the loop around which its elements live in registers.
    copies : elements that lie in a copy, where the bounds cut the tile off.
    accesses : of the tile.
    changed : what conditions may leave alone.
    """

    registers: Mapping[Reach, Piece]
    levels: Mapping[str, int]
    copies: Mapping[Reach, CText]
    accesses: Sequence[TileAccess]
    changed: ChangedElements

    def __post_init__(self) -> None:
        """A copy goes back whole.

        Raises
        ------
        NotVectorised : conditions may leave elements of a copy alone.
        """
        if self.changing & self.copies.keys():
            raise NotVectorised("a cut tile writes all that its copy holds")

    @cached_property
    def written(self) -> frozenset[Reach]:
        """The elements that the tile writes."""
        return frozenset(key for a in self.accesses if a.writes for key in a.keys)

    @cached_property
    def changing(self) -> frozenset[Reach]:
        """Those of them that conditions may leave alone."""
        return self.changed.among(self.written)

    def around(self, level: int) -> list[tuple[Reach, Piece]]:
        """What lives in registers around a loop."""
        return [(key, piece) for key, piece in self.registers.items() if self.levels[key.array] == level]

    def loads(self, around: Sequence[tuple[Reach, Piece]]) -> Iterator[str]:
        """The declarations of registers, with what memory holds."""
        for key, piece in around:
            yield f"{self.changed.type_name(key, piece)} {piece.text} = {self._memory(key, piece)};"
        yield from (self.changed.declaration(key, piece) for key, piece in around if key in self.changing)

    def stores(self, around: Sequence[tuple[Reach, Piece]]) -> Iterator[str]:
        """Registers back into memory."""
        for key, piece in around:
            if key in self.changing:
                yield from self.changed.stores(key, piece)
            elif key in self.written:
                yield f"{self._memory(key, piece)} = {piece.text};"

    def _memory(self, key: Reach, piece: Piece) -> CText:
        """The place in memory that a register stands for."""
        element = self.copies.get(key) or self.changed.place(key)
        return vector_at(element, self.changed.type_name(key, piece)) if piece.vector else element
