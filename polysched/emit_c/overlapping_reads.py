"""Vectors that overlap the vector before: what was read for that one stays in a register.

Rewrite:  for (j = a; j < b; j += W) y[j] = x[j - 1] + x[j];                          (in vectors of W lanes)
      ->  if (a < b) { before = x at a - 1, turned so that its first lane comes last;
                       for (j = a; j < b; j += W) { here = x[j]; back = last lane of before, then all of here but its
                                                    last lane; y[j] = back + here; before = here; } }

A vector as wide as a cache line lies on two lines unless it starts on one, and takes two loads; here it takes none, but
an operation, so it is done where loads are what the loop waits for.
A read just behind the vector that was stored last also waits for that store where the two arrays lie a multiple of
4 KiB apart, as whole pages of memory do: the processor compares the low twelve bits of addresses first (Intel 64 and
IA-32 Architectures Optimization Reference Manual, "Memory Disambiguation").

Source: register rotation along a row as in D. Callahan, S. Carr, K. Kennedy, "Improving Register Allocation for
Subscripted Variables", PLDI 1990, section 3, for vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from polysched.emit_c.accumulators import TileAccess
from polysched.emit_c.c_text import CText
from polysched.emit_c.facts import distance
from polysched.emit_c.index import Linear, substitute
from polysched.emit_c.loops import RegisterTile
from polysched.emit_c.names import TakenNames, identifier_of
from polysched.emit_c.operations import operations
from polysched.emit_c.tile_accesses import Lanes, Reach
from polysched.emit_c.tile_scope import Piece
from polysched.emit_c.vector_expressions import vector_at
from polysched.emit_c.vector_types import VectorTypes, has_vectors
from polysched.scop.scop import Scop

LINE_BYTES = 64
MOST_ROWS = 8    # that are carried from vector to vector; each takes two registers


@dataclass(frozen=True)
class Row:
    """Reads of one row of an array.

    Parameters
    ----------
    here : the vector where the loop writes its own.
    behind : vectors that start some elements before it, fewer than it has lanes, with how many.
    """

    here: Reach
    behind: tuple[tuple[Reach, int], ...]


def overlapping_rows(tile: RegisterTile, accesses: Sequence[TileAccess], lanes: int, scop: Scop) -> tuple[Row, ...]:
    """The rows of which vector after vector is read, and vectors that start between them.

    None where the processor has more operations than loads to do: each vector from two others is one operation more.
    """
    if not _is_row_of_vectors(tile, lanes):
        return ()
    written = {a.generic.array for a in accesses if a.writes}
    ends = [a.generic.subscripts[-1] for a in accesses
            if a.writes and a.generic.lanes is Lanes.UNIT and a.generic.subscripts]
    reads = list(dict.fromkeys(a.generic for a in accesses if not a.writes and a.generic.array not in written
                               and a.generic.lanes is Lanes.UNIT and a.generic.subscripts
                               and has_vectors(scop.array(a.generic.array).dtype)
                               and scop.array(a.generic.array).dtype.bytes * lanes >= LINE_BYTES))
    rows = []
    for here in reads:
        if any(distance(end, _last(here)) == 0 for end in ends):
            gaps = [(other, _steps_back(here, other)) for other in reads]
            behind = tuple((other, gap) for other, gap in gaps if gap is not None and 0 < gap < lanes)
            if behind:
                rows.append(Row(here, behind))
    straddling = sum(all(distance(end, _last(read)) != 0 for end in ends) for read in reads)
    waits = len(reads) + straddling > operations(tile, scop).total
    return tuple(rows[:MOST_ROWS]) if waits else ()


def _is_row_of_vectors(tile: RegisterTile, lanes: int) -> bool:
    """Whether the tile is a loop from one vector to the next."""
    if len(tile.loops) != 1 or len(tile.edges) != 1 or tile.partials or tile.within or tile.panels:
        return False
    (loop,), (edge,) = tile.loops, tile.edges
    return (edge.simd and edge.is_own_variable and loop.variable == edge.variable and lanes > 1
            and loop.step == edge.count == lanes and not loop.mark.parallel)


def _last(where: Reach) -> Linear:
    assert where.subscripts, "a read in lanes has subscripts"
    return where.subscripts[-1]


def _steps_back(here: Reach, other: Reach) -> int | None:
    """How many elements before `here` another read of the same row starts; None where that is not known."""
    if here.array != other.array or here.subscripts is None or other.subscripts is None:
        return None
    gaps = [distance(a, b) for a, b in zip(here.subscripts, other.subscripts, strict=True)]
    return gaps[-1] if not any(gaps[:-1]) and None not in gaps else None


@dataclass(frozen=True, kw_only=True)
class OverlappingReads:
    """The registers that go from one vector to the next, and the lines around and inside the loop.

    Parameters
    ----------
    tile, rows : the loop, and what is read of which rows.
    place : the C text of an element.
    in_use : names of the loop variables around and inside the tile.
    """

    tile: RegisterTile
    rows: tuple[Row, ...]
    lanes: int
    scop: Scop
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    place: Callable[[Reach], CText]

    def beginnings(self) -> list[str]:
        """In front of the loop, which runs: the elements behind its first vector, in the last lanes.

        They are read as part of a vector that the first iteration reads as well.
        """
        lines = []
        for number, row in enumerate(self.rows):
            furthest, steps = max(row.behind, key=lambda pair: pair[1])
            first = {self.tile.loops[0].variable: self.tile.loops[0].lower}
            start = replace(furthest, subscripts=tuple(substitute(f, first) for f in furthest.subscripts or ()))
            kind, first_name = self._kind(row), self._name(row, "first", number)
            turned = ", ".join(str((lane + steps) % self.lanes) for lane in range(self.lanes))
            lines += [f"const {kind} {first_name} = {vector_at(self.place(start), kind)};",
                      f"{kind} {self._name(row, 'before', number)} = "
                      f"__builtin_shufflevector({first_name}, {first_name}, {turned});"]
        return lines

    def loads(self) -> list[str]:
        """At the start of an iteration: one load per row, and what it shares with the vector before."""
        lines = []
        for number, row in enumerate(self.rows):
            kind, here, before = self._kind(row), self._name(row, "here", number), self._name(row, "before", number)
            lines.append(f"const {kind} {here} = {vector_at(self.place(row.here), kind)};")
            for _, steps in row.behind:
                lanes = ", ".join(str(self.lanes - steps + lane) for lane in range(self.lanes))
                lines.append(f"const {kind} {self._name(row, f'back_{steps}', number)} = "
                             f"__builtin_shufflevector({before}, {here}, {lanes});")
        return lines

    def registers(self) -> dict[Reach, Piece]:
        """The registers by what the body reads."""
        held: dict[Reach, Piece] = {}
        for number, row in enumerate(self.rows):
            names = {row.here: "here"} | {other: f"back_{steps}" for other, steps in row.behind}
            dtype = self.scop.array(row.here.array).dtype
            held |= {where: Piece(CText(self._name(row, name, number)), dtype, True) for where, name in names.items()}
        return held

    def ends(self) -> list[str]:
        """At the end of an iteration."""
        return [f"{self._name(row, 'before', number)} = {self._name(row, 'here', number)};"
                for number, row in enumerate(self.rows)]

    def _kind(self, row: Row) -> str:
        return self.types.name(self.scop.array(row.here.array).dtype, self.lanes)

    def _name(self, row: Row, role: str, number: int) -> str:
        stem = identifier_of(row.here.array)
        return self.taken.fresh(f"{stem}_{role}" if len(self.rows) == 1 else f"{stem}_{role}_row_{number}", self.in_use)
