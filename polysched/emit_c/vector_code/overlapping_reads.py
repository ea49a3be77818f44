"""Vectors that overlap those before and behind them: what was read for these stays in registers.

Rewrite:  for (j = a; j < b; j += W) y[j] = x[j - 1] + x[j] + x[j + 1];               (in vectors of W lanes)
      ->  if (a < b') { before = x at a - 1, turned so that its first lane comes last;  here = x[a];
                        for (j = a; j < b'; j += W) { next = x[j + W];
                                                      back = last lane of before, then all of here but its last lane;
                                                      front = all of here but its first lane, then first lane of next;
                                                      y[j] = back + here + front;  before = here;  here = next; } }
          for (j = the next one; j < b; j += W) y[j] = x[j - 1] + x[j] + x[j + 1];

where b' is less than b, so that no element is read which the program does not read.

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
from dataclasses import replace
from itertools import accumulate

from polysched.emit_c.bodies.operations import operations
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import distance
from polysched.emit_c.loop_ir.index import Linear, substitute, variable
from polysched.emit_c.loop_ir.loops import RegisterTile
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.vector_types import VectorTypes, has_vectors
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.emit_c.vector_code.vector_expressions import vector_at
from polysched.records import dataclass
from polysched.scop.scop import Scop

OPERATIONS_PER_LOAD = LIMITS.operations_per_load


@dataclass(frozen=True)
class Row:
    """Reads of one row of an array.

    Parameters
    ----------
    here : the vector where the loop writes its own.
    behind : vectors that start some elements before it, fewer than it has lanes, with how many.
    ahead : vectors that start some elements after it.
    """

    here: Reach
    behind: tuple[tuple[Reach, int], ...] = ()
    ahead: tuple[tuple[Reach, int], ...] = ()

    @property
    def registers(self) -> int:
        """How many go from vector to vector."""
        return 1 + bool(self.behind) + bool(self.ahead)


def _is_along_a_row(access: TileAccess) -> bool:
    return access.generic.lanes is Lanes.UNIT and bool(access.generic.subscripts)


def _is_a_line_per_vector(access: TileAccess, lanes: int, scop: Scop, line_bytes: int) -> bool:
    """Whether a vector of the access is a cache line or more, so that a vector between two of them costs two loads."""
    dtype = scop.array(access.generic.array).dtype
    return _is_along_a_row(access) and has_vectors(dtype) and dtype.bytes * lanes >= line_bytes


def overlapping_rows(tile: RegisterTile, accesses: Sequence[TileAccess], lanes: int, scop: Scop, *,
                     line_bytes: int, registers: int) -> tuple[Row, ...]:
    """The rows of which vector after vector is read, and vectors that start between them.

    None where the processor has more operations than loads to do: each vector from two others is one operation more.
    Vectors behind alone, or ahead too: what takes the least time.

    Parameters
    ----------
    line_bytes : of the first cache; shorter vectors seldom cross a line.
    registers : for vectors; half of them may go from vector to vector.
    """
    if not _is_row_of_vectors(tile, lanes):
        return ()
    written = {a.generic.array for a in accesses if a.writes}
    ends = [_last(a.generic) for a in accesses if a.writes and _is_along_a_row(a)]
    reads = list(dict.fromkeys(a.generic for a in accesses if not a.writes and a.generic.array not in written
                               and _is_a_line_per_vector(a, lanes, scop, line_bytes)))
    loads = {read: 1 if any(distance(end, _last(read)) == 0 for end in ends) else 2 for read in reads}
    both = [row for here in reads if loads[here] == 1 and (row := _row(here, reads, lanes)).registers > 1]
    behind = [replace(row, ahead=()) for row in both if row.behind]
    computed = operations(tile, scop).contracted

    def slots(rows: tuple[Row, ...]) -> tuple[int, int]:
        made = [read for row in rows for read, _ in (*row.behind, *row.ahead)]
        left = sum(n for read, n in loads.items() if read not in made)
        return max(OPERATIONS_PER_LOAD * left, computed + len(made)), len(made)

    return min(((), _carried(behind, registers), _carried(both, registers)), key=slots)


def _row(here: Reach, reads: Sequence[Reach], lanes: int) -> Row:
    gaps = [(other, gap) for other in reads if (gap := _steps_back(here, other)) is not None]
    return Row(here, behind=tuple((other, gap) for other, gap in gaps if 0 < gap < lanes),
               ahead=tuple((other, -gap) for other, gap in gaps if -lanes < gap < 0))


def _carried(rows: Sequence[Row], registers: int) -> tuple[Row, ...]:
    """As many rows, from the first one, as half of the registers are enough for."""
    totals = accumulate(row.registers for row in rows)
    return tuple(row for row, total in zip(rows, totals, strict=True) if total <= registers // 2)


def read_beyond(rows: Sequence[Row], lanes: int) -> int:
    """How many elements behind those that its iterations read one vector of the loop reads."""
    return max((lanes - max(steps for _, steps in row.ahead) for row in rows if row.ahead), default=0)


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
    macros : defines how vectors are taken out of two.
    """

    tile: RegisterTile
    rows: tuple[Row, ...]
    lanes: int
    scop: Scop
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    place: Callable[[Reach], CText]
    macros: HelperMacros

    def beginnings(self) -> list[str]:
        """In front of the loop, which runs: its first vectors, and the elements behind them in the last lanes.

        They are read as part of vectors that the first iteration reads as well.
        """
        lines = []
        for number, row in enumerate(self.rows):
            kind = self._kind(row)
            if row.behind:
                furthest, steps = max(row.behind, key=lambda pair: pair[1])
                first = self._name(row, "first", number)
                turned = ", ".join(str((lane + steps) % self.lanes) for lane in range(self.lanes))
                lines += [f"const {kind} {first} = {self._vector(furthest, self.tile.loops[0].lower, kind)};",
                          f"{kind} {self._name(row, 'before', number)} = "
                          f"__builtin_shufflevector({first}, {first}, {turned});"]
            if row.ahead:
                lines.append(f"{kind} {self._name(row, 'here', number)} = "
                             f"{self._vector(row.here, self.tile.loops[0].lower, kind)};")
        return lines

    def loads(self) -> list[str]:
        """At the start of an iteration: one load per row, and what it shares with the vectors beside it."""
        lines = []
        for number, row in enumerate(self.rows):
            kind, here = self._kind(row), self._name(row, "here", number)
            loaded = self._name(row, "next", number) if row.ahead else here
            at = variable(self.tile.loops[0].variable) + (self.lanes if row.ahead else 0)
            lines.append(f"const {kind} {loaded} = {self._vector(row.here, at, kind)};")
            before = self._name(row, "before", number)
            between = [(f"back_{steps}", before, here, self.lanes - steps) for _, steps in row.behind]
            between += [(f"front_{steps}", here, loaded, steps) for _, steps in row.ahead]
            for role, first, second, start in between:
                lanes = ", ".join(str(start + lane) for lane in range(self.lanes))
                size = self.scop.array(row.here.array).dtype.bytes
                across = "__builtin_shufflevector("
                if size in (4, 8):
                    across = f"{self.macros.use(f'across_{size}')}({kind}, "
                    lanes = f"{start}, {lanes}"
                lines.append(f"const {kind} {self._name(row, role, number)} = {across}{first}, {second}, {lanes});")
        return lines

    def registers(self) -> dict[Reach, Piece]:
        """The registers by what the body reads."""
        held: dict[Reach, Piece] = {}
        for number, row in enumerate(self.rows):
            names = {row.here: "here"} | {other: f"back_{steps}" for other, steps in row.behind}
            names |= {other: f"front_{steps}" for other, steps in row.ahead}
            dtype = self.scop.array(row.here.array).dtype
            held |= {where: Piece(CText(self._name(row, name, number)), dtype, True) for where, name in names.items()}
        return held

    def ends(self) -> list[str]:
        """At the end of an iteration."""
        return [f"{self._name(row, to, number)} = {self._name(row, source, number)};"
                for number, row in enumerate(self.rows)
                for to, source, wanted in (("before", "here", row.behind), ("here", "next", row.ahead)) if wanted]

    def _vector(self, read: Reach, at: Linear, kind: str) -> CText:
        """What is read where the variable of the loop has some value."""
        values = {self.tile.loops[0].variable: at}
        return vector_at(self.place(replace(read, subscripts=tuple(
            substitute(form, values) for form in read.subscripts or ()))), kind)

    def _kind(self, row: Row) -> str:
        return self.types.name(self.scop.array(row.here.array).dtype, self.lanes)

    def _name(self, row: Row, role: str, number: int) -> str:
        stem = identifier_of(row.here.array)
        return self.taken.fresh(f"{stem}_{role}" if len(self.rows) == 1 else f"{stem}_{role}_row_{number}", self.in_use)
