"""A full register tile -> straight C: unrolled points, vectors along the simd edge, accumulators in registers.

Example of what comes out for `C[i][j] += A[i][k] * B[k][j]` with edges i (2) and j (32, lanes of 16):

    f32x16 C_0_0 = *(f32x16 *)&C[i][j];  ...
    for (long k = 0; k < n; k++) {
      const float A_0 = A[i][k];
      const f32x16 B_0 = *(f32x16 *)&B[k][j];
      C_0_0 += A_0 * B_0;  ...
    }
    *(f32x16 *)&C[i][j] = C_0_0;  ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import gcd, prod

from polysched.emit_c.bodies.operations import waits_for_divider
from polysched.emit_c.bodies.wrapping_sums import accumulator, unsigned
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, depends_on
from polysched.emit_c.loop_ir.index import Comparison
from polysched.emit_c.loop_ir.loops import Edge, For, Partial, RegisterTile, StatementInstance, Temporary
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.accumulators import TileAccess, can_run_twice, offset_name, promotion_levels
from polysched.emit_c.register_tiles.shared_rows import SharedRows, shared_rows, shared_vectors
from polysched.emit_c.register_tiles.tile_accesses import (
    Lanes,
    Point,
    Reach,
    packed_reach,
    partial_reach,
    points,
    private_reach,
    reach,
)
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.expressions import (
    ExpressionPrinter,
    element_template,
    fill_element,
    temporary_element,
)
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.loop_head import loop_head
from polysched.emit_c.scalar_code.statements import braced
from polysched.emit_c.scalar_code.vector_dtypes import computed_dtypes
from polysched.emit_c.scalar_code.vector_types import VectorTypes, has_vectors
from polysched.emit_c.vector_code.held_elements import ChangedElements, HeldElements
from polysched.emit_c.vector_code.overlapping_reads import OverlappingReads, overlapping_rows, read_beyond
from polysched.emit_c.vector_code.partial_results import PartialResults
from polysched.emit_c.vector_code.partial_tiles import CutTile, sums_of
from polysched.emit_c.vector_code.tile_fetches import TileFetches
from polysched.emit_c.vector_code.tile_scope import Piece, TileScope
from polysched.emit_c.vector_code.transposition import Transposition, is_square
from polysched.emit_c.vector_code.vector_expressions import NotVectorised, VectorPrinter
from polysched.emit_c.vector_code.vector_statements import add_statements
from polysched.emit_c.vector_code.windows import Window, windows
from polysched.emit_c.vector_math import VectorMath
from polysched.records import dataclass
from polysched.scop.body import assignments
from polysched.scop.dtypes import DType
from polysched.scop.scop import Access, Scop
from polysched.target.target import Target
from polysched.tiling.planning.register_shape import MOST_FOLDED

MOST_UNROLLED = LIMITS.most_unrolled_sums
MOST_POINTS = LIMITS.most_unrolled_points


@dataclass(frozen=True, kw_only=True)
class TileCode:
    """Prints one register tile.

    Parameters
    ----------
    tile : what to print.
    scop : holds the bodies.
    printer_for : the scalar printer of a statement given the values of its iterators.
    types : declares vector types.
    taken : names that must not be made up.
    in_use : names of all loop variables around and inside the tile.
    facts : what holds around the tile.
    vector_bits : width of a vector register; 0 for scalar code.
    vector_registers : how many there are.
    target : what a core does per cycle, and its caches.
    index : prints linear forms.
    local_names : C names of the region-local arrays.
    math : declares functions of math.h on vectors; None leaves calls to the C library.
    around : the variable of the loop right around the tile.
    emptied : the registers are empty already, where sums of a buffer want that.
    """

    tile: RegisterTile
    scop: Scop
    printer_for: Callable[[StatementInstance, Point], ExpressionPrinter]
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    facts: Facts
    vector_bits: int
    vector_registers: int
    target: Target
    index: IndexPrinter
    local_names: Mapping[str, str]
    math: VectorMath | None = None
    around: str | None = None
    emptied: bool = False

    def lines(self) -> list[str]:
        """The lines of the tile, inside a scope in which the edge variables are declared.

        Raises
        ------
        NotVectorised : the body has no form in registers; the loops have to be printed instead.
        """
        lanes = self.lanes
        accesses = self.accesses(lanes)
        levels = self.levels(lanes)
        registers = self._registers(accesses, levels)
        own = self._private_registers(accesses)
        parts = PartialResults(tile=self.tile, scop=self.scop, types=self.types, taken=self.taken, in_use=self.in_use,
                               lanes=lanes, element=self._element,
                               form=lambda form: self.index.form(form).text, math=self.math,
                               sometimes=self._changed.arrays)
        body = [f"{self._type(key, piece)} {piece.text};" for key, piece in own.items()]
        cut = self._cut(accesses, levels) if self.tile.within else None
        overlap = self._overlap(accesses)
        seen = {key: piece for window in self._windows for key, piece in window.elements(self.index)}
        body += [*overlap.loads(), *self._body(registers | own | overlap.registers() | seen, frozenset(
            a.generic.array for a in accesses if a.writes), parts, cut, frozenset(own)), *overlap.ends()]
        copies = {} if cut is None else {
            key: cut.element(array, point) for a in accesses if (array := a.generic.array) in cut.sums
            for key, point in zip(a.keys, points(self.tile.edges, lanes), strict=True)}
        nest = self._nest(0, body, HeldElements(registers=registers, levels=levels, copies=copies, accesses=accesses,
                                                changed=self._changed), self.facts)
        if overlap.rows:
            nest = self._if_it_runs([*overlap.beginnings(), *nest], self.tile.loops[0], self.facts)
        lines = [*parts.beginnings(), *nest, *parts.combinations()]
        return lines if cut is None else [*cut.before(), *lines, *cut.after()]

    @cached_property
    def _changed(self) -> ChangedElements:
        return ChangedElements(
            tile=self.tile, scop=self.scop, lanes=self.lanes, place=self._place, type_name=self._type,
            reach=lambda instance, point, access: self.reach_of(self.printer_for(instance, point), access, self.lanes),
            mask=self.types.mask, fresh=lambda wish: self.taken.fresh(wish, self.in_use))

    def _cut(self, accesses: Sequence[TileAccess], levels: Mapping[str, int]) -> CutTile:
        if self.tile.private or self.tile.partials:
            raise NotVectorised("a cut tile has no variables of its own")
        return CutTile(tile=self.tile, scop=self.scop, sums=sums_of(self.tile, self.scop, accesses, levels, self.lanes),
                       place=self._place, index=self.index, taken=self.taken, in_use=self.in_use, types=self.types,
                       lanes=self.lanes)

    def copy_of_rows(self, count: int) -> CutTile:
        """The copy of what tiles along a row sum up, the first of which this one is.

        Parameters
        ----------
        count : of all rows.
        """
        accesses = self.accesses(self.lanes)
        cut = self._cut(accesses, self.levels(self.lanes))
        rows, columns = self.tile.edges
        whole = replace(rows, count=count)
        return replace(cut, around=True, tile=replace(self.tile, edges=(whole, columns), within=tuple(
            (edge.base, edge.base + edge.count) for edge in (whole, columns))))

    @property
    def edge(self) -> str | None:
        """The variable that moves along the lanes."""
        return None if self._lane_edge is None else self._lane_edge.variable

    @property
    def _lane_edge(self) -> Edge | None:
        return next((edge for edge in self.tile.edges if edge.simd), None)

    @cached_property
    def lanes(self) -> int:
        """Lanes of every vector: as many as fit for the widest type.

        They divide the simd edge, or the last vector overlaps the one before: 14 points are two vectors of 8 lanes
        instead of seven of 2.
        """
        edge = self._lane_edge
        if edge is None or not self.vector_bits:
            if edge is not None:
                raise NotVectorised("the target has no vectors")
            return 1
        dtypes = set(self.dtypes())
        if not all(has_vectors(dtype) for dtype in dtypes):
            raise NotVectorised("an element type has no vector form")
        bits = max(dtype.bits for dtype in dtypes)
        widest = min(self.vector_bits // bits, 1 << edge.count.bit_length() - 1)
        lanes = gcd(widest, edge.count)
        if lanes < widest and widest * bits >= LIMITS.narrowest_overlap_bits and self.may_run_twice(lanes):
            return widest
        if lanes == 1:
            raise NotVectorised("the simd edge is too short for a vector")
        return lanes

    def may_run_twice(self, lanes: int) -> bool:
        """Whether points may be computed twice, as those are that two vectors share.

        Parameters
        ----------
        lanes : of vectors that divide the edge.
        """
        if self.tile.within or self.tile.partials or self.tile.past_caches:
            return False
        accesses = [a for a in self.accesses(lanes) if not self.is_own(a)]
        return can_run_twice(self.tile, accesses, self.levels(lanes))

    def levels(self, lanes: int) -> dict[str, int]:
        """Per written array that lives in registers: the loop around which it does.

        Vectors that overlap hold the same points twice; elements are told apart by shorter ones, which do not.
        """
        lanes = lanes if self._lane_edge is None else gcd(lanes, self._lane_edge.count)
        return promotion_levels(self.tile, [a for a in self.accesses(lanes) if not self.is_own(a)], self.facts)

    def dtypes(self) -> Iterable[DType]:
        """The types of all values that are computed."""
        for instance in instances(self.tile.body):
            yield from computed_dtypes(statement_at(self.scop, instance))

    def accesses(self, lanes: int) -> list[TileAccess]:
        """The elements that the tile's statements access, vectors having so many lanes."""
        if lanes not in self._accesses_by_lanes:
            self._accesses_by_lanes[lanes] = self._accesses_in(lanes)
        return self._accesses_by_lanes[lanes]

    @cached_property
    def _accesses_by_lanes(self) -> dict[int, list[TileAccess]]:
        """What was asked for before."""
        return {}

    def _accesses_in(self, lanes: int) -> list[TileAccess]:
        made = []
        at = points(self.tile.edges, lanes)
        for instance in instances(self.tile.body):
            anywhere, *printers = (self.printer_for(instance, point) for point in (Point(()), *at))
            for access in statement_at(self.scop, instance).accesses:
                keys = tuple(dict.fromkeys(self.reach_of(printer, access, lanes) for printer in printers))
                made.append(TileAccess(self.reach_of(anywhere, access, lanes), keys, access.is_write))
        return made

    def reach_of(self, printer: ExpressionPrinter, access: Access, lanes: int) -> Reach:
        """Where an access of a statement goes at the point that a printer is for."""
        packed = printer.packed_access(access)
        if packed is not None:
            return packed_reach(packed, lanes)
        array = self.scop.array(access.array)
        if array.name in self._private:
            return private_reach(array, self.edge, lanes)
        if (partial := next((p for p in self.tile.partials if p.array == array.name), None)) is not None:
            return partial_reach(partial, array, self.edge, lanes)
        return reach(array, access, printer.iterators, self.edge, lanes, temporary=self.temporaries.get(array.name))

    @cached_property
    def _private(self) -> dict[str, str]:
        """C name by array of the variables that every point has to itself."""
        return {t.array: t.name for t in self.tile.private}

    @cached_property
    def temporaries(self) -> dict[str, Temporary]:
        """What is declared around the tile in the place of temporary arrays."""
        return {t.array: t for instance in instances(self.tile.body) for t in instance.temporaries}

    @cached_property
    def _wrapping(self) -> frozenset[str]:
        """Arrays of signed integers that are updated in unsigned arithmetic."""
        statements = [statement_at(self.scop, instance) for instance in instances(self.tile.body)]
        return frozenset(s.access(item.target).array for s in statements for item in assignments(s.body)
                         if item.dtype != unsigned(item.dtype) == item.value.dtype)

    def is_own(self, access: TileAccess) -> bool:
        """Whether every lane has an element of its own for the access."""
        return self._is_private(access) or any(p.array == access.generic.array for p in self.tile.partials)

    def _is_private(self, access: TileAccess) -> bool:
        return access.generic.array in self._private

    def _private_registers(self, accesses: list[TileAccess]) -> dict[Reach, Piece]:
        """A variable per temporary that lives in one iteration of the tile."""
        return {a.generic: Piece(CText(self._private[a.generic.array]), self.scop.array(a.generic.array).dtype,
                                 a.generic.lanes is Lanes.UNIT)
                for a in accesses if self._is_private(a)}

    def _registers(self, accesses: list[TileAccess], levels: dict[str, int]) -> dict[Reach, Piece]:
        registers: dict[Reach, Piece] = {}
        used = set(self.in_use)
        for array, level in levels.items():
            moving = frozenset(loop.variable for loop in self.tile.loops[level:])
            keys = list(dict.fromkeys(k for a in accesses if a.generic.array == array for k in a.keys
                                      if not _depends(k, moving)))
            for number, key in enumerate(keys):
                alone = len(keys) == 1 and not self.tile.edges
                stem = identifier_of(array)
                wish = f"{stem}_held" if alone else offset_name(stem, key, keys[0], number)
                name = self.taken.fresh(wish, frozenset(used))
                used.add(name)
                vector = key.lanes in (Lanes.UNIT, Lanes.SPREAD)
                dtype = self.scop.array(array).dtype
                if array in self._wrapping:
                    dtype = unsigned(dtype) if vector else accumulator("sum", dtype)
                registers[key] = Piece(CText(name), dtype, vector)
        return registers

    def _body(self, registers: dict[Reach, Piece], written: frozenset[str], parts: PartialResults,
              cut: CutTile | None, own: frozenset[Reach]) -> list[str]:
        names = self.in_use | {piece.text.code for piece in registers.values()}
        square = is_square(self.tile, self.lanes)
        lines, columns = self._transposition().columns() if square else ([], {})
        registers, names = registers | columns, names | {line.split()[2] for line in lines}
        scope = TileScope(registers=registers, written=written, taken=self.taken, in_use=names, lines=lines)
        shares_divisors = waits_for_divider(self.tile, self.scop)
        reads_once, shared = self._reads_once(), self._shared_vectors()
        for number, point in enumerate(points(self.tile.edges, self.lanes)):
            for instance in instances(self.tile.body):
                read = point if cut is None else cut.read_point(point)
                partial = parts.at_point(number)
                held = registers | partial | self._moved(registers, instance, point, read)
                own_scope = replace(scope, registers=held, own=own | {*partial})
                printer = VectorPrinter(scalar=self.printer_for(instance, read), types=self.types, lanes=self.lanes,
                                        edge=self.edge, scope=own_scope, math=self.math,
                                        shares_divisors=shares_divisors, reads_once=reads_once, shared=shared,
                                        past_caches=self.tile.past_caches, sums_up=bool(self.tile.partials))
                add_statements(statement_at(self.scop, instance).body, printer)
        return scope.lines

    def _reads_once(self) -> bool:
        """Whether compilers would read a vector of a panel again for each row: few rows, or sums without registers."""
        return 1 < self._rows <= MOST_FOLDED or self._shared_rows.leave_no_register

    def _shared_vectors(self) -> frozenset[Reach]:
        few = self._first_unrolled is None and 1 < self._rows <= MOST_FOLDED
        return shared_vectors(self.tile, self.accesses(self.lanes) if few else ())

    def _moved(self, registers: Mapping[Reach, Piece], instance: StatementInstance, point: Point,
               read: Point) -> dict[Reach, Piece]:
        """The registers of a point under the elements that are spelled as at another."""
        if read == point:
            return {}
        moved = {}
        for access in statement_at(self.scop, instance).accesses:
            own = self.reach_of(self.printer_for(instance, point), access, self.lanes)
            if own in registers:
                moved[self.reach_of(self.printer_for(instance, read), access, self.lanes)] = registers[own]
        return moved

    def _transposition(self) -> Transposition:
        return Transposition(tile=self.tile, accesses=self.accesses(self.lanes), lanes=self.lanes, scop=self.scop,
                             types=self.types, taken=self.taken, in_use=self.in_use, place=self._place)

    def reads_strided(self) -> bool:
        """Whether some element is read that lies apart from lane to lane within a row, and none so is written."""
        strided = [a for a in self.accesses(2) if a.generic.lanes is Lanes.STRIDED]
        return bool(strided) and not any(a.writes for a in strided)

    def reads_transposed(self) -> bool:
        """Whether everything that lies apart from lane to lane is read in blocks that are transposed in registers."""
        return self._transposition().covers_all()

    def _nest(self, level: int, body: list[str], held: HeldElements, facts: Facts) -> list[str]:
        """The loops from `level` inwards with the registers that live around each of them."""
        if level == len(self.tile.loops):
            return [*self._pointers(level), *self._barrier(), *self._fetches.panel_rows(), *self._fetches.later_rows(),
                    *self._fetches.rows_in_place(), *body]
        loop = self.tile.loops[level]
        inner = self._nest(level + 1, body, held, facts.inside(loop))
        lines = [*self._pointers(level), *self._unrolled(level), *braced(loop_head(loop, self.index), inner)]
        around = held.around(level)
        if not around:
            return lines
        lines = [*(self.emptied_registers() if any(key in held.written for key, _ in around) else ()),
                 *held.loads(around), *self._fetches.next_tile(key for key, _ in around), *lines, *held.stores(around)]
        return self._if_it_runs(lines, loop, facts)

    def _if_it_runs(self, lines: list[str], loop: For, facts: Facts) -> list[str]:
        if facts.runs(loop):
            return lines
        return braced(f"if ({self.index.condition(Comparison('>', loop.upper, loop.lower))})", lines)

    def _overlap(self, accesses: Sequence[TileAccess]) -> OverlappingReads:
        return OverlappingReads(tile=self.tile, rows=overlapping_rows(
            self.tile, accesses, self.lanes, self.scop, line_bytes=self.target.line_bytes,
            registers=self.vector_registers),
                                lanes=self.lanes, scop=self.scop, types=self.types, taken=self.taken,
                                in_use=self.in_use, place=self._place, macros=self.index.macros)

    def reads_beyond(self) -> int | None:
        """How far a loop over vectors reads for the next one; None where vectors share nothing."""
        rows = overlapping_rows(self.tile, self.accesses(self.lanes), self.lanes, self.scop,
                                line_bytes=self.target.line_bytes, registers=self.vector_registers)
        return read_beyond(rows, self.lanes) if rows else None

    def _unrolled(self, level: int) -> list[str]:
        """A pragma for short loops over which neighbouring points of the tile read the same elements."""
        inner = self.tile.loops[level:]
        lengths = [loop.upper - loop.lower for loop in inner]
        if any(not n.is_constant or loop.step != 1 for n, loop in zip(lengths, inner, strict=True)):
            return []
        total = prod(n.constant for n in lengths)
        short = all(1 < n.constant <= MOST_UNROLLED for n in lengths)
        if not short or total * len(points(self.tile.edges, self.lanes)) > MOST_POINTS:
            return []
        if not self._shared_rows.reaches:
            return []
        return [f"#pragma GCC unroll {1 if self._shared_rows.are_rolled else lengths[0].constant}"]

    @cached_property
    def _first_unrolled(self) -> int | None:
        """The outermost loop that is unrolled since points share what they read."""
        return next((n for n in range(len(self.tile.loops)) if self._unrolled(n)), None)

    def _pointers(self, level: int) -> list[str]:
        return [line for w in self._windows for line in w.declaration(self.index)] if level == self._pointed else []

    @property
    def _pointed(self) -> int | None:
        """The loop around which pointers to elements are declared; the number of loops for inside all of them."""
        if self._shared_rows.leave_no_register and self._first_unrolled is not None:
            return self._first_unrolled
        return len(self.tile.loops) if self._shared_rows.stand_apart else None

    @cached_property
    def _windows(self) -> tuple[Window, ...]:
        """Pointers to what sums leave no registers for, or whose rows stand apart."""
        if self._pointed is None:
            return ()
        plain = {a.name for a in self.scop.arrays}.difference(self.temporaries)   # no panel, no buffer
        shared = [a for a in self.accesses(self.lanes) if a.generic in self._shared_rows.reaches
                  and a.generic.array in plain]
        return windows(shared, frozenset(loop.variable for loop in self.tile.loops[self._pointed:]),
                       rows=frozenset(edge.variable for edge in self.tile.edges), array=self.scop.array,
                       local_names=self.local_names, fresh=lambda wish, own: self.taken.fresh(wish, self.in_use | own))

    @cached_property
    def _shared_rows(self) -> SharedRows:
        reached = (self.reach_of(self.printer_for(instance, Point(())), access, self.lanes)
                   for instance in instances(self.tile.body)
                   for access in statement_at(self.scop, instance).accesses)
        return shared_rows(self.tile, reached, sums=len(points(self.tile.edges, self.lanes)), rows=self._rows,
                           registers=self.vector_registers, ports=self.target.ports)

    @property
    def _rows(self) -> int:
        return prod(edge.count for edge in self.tile.edges if not edge.simd)

    @property
    def _fetches(self) -> TileFetches:
        return TileFetches(tile=self.tile, scop=self.scop, place=self._place, around=self.around,
                           target=self.target,
                           printer_for=lambda instance: self.printer_for(instance, Point(())))

    def _barrier(self) -> list[str]:
        """Nothing, but no compiler keeps elements for the next iteration across it."""
        return ['__asm__ volatile("" : : : "memory");'] if self._shared_rows.are_left else []

    def emptied_registers(self) -> list[str]:
        """Nothing, but registers are empty behind it: for sums in a buffer, whose last steps stand beside the tile.

        A constant of those steps that gcc keeps in a register meanwhile lets it spill sums in every iteration.
        """
        summed = {access.array for instance in instances(self.tile.body)
                  for access in statement_at(self.scop, instance).writes}
        in_buffer = any(name in summed and temporary.kept for name, temporary in self.temporaries.items())
        wanted = in_buffer and not self.emptied and self.edge is not None and self.vector_registers in (16, 32)
        return [f"{self.index.macros.use(f'empty_registers_{self.vector_registers}')}();"] if wanted else []

    def _place(self, key: Reach) -> CText:
        temporary = self.temporaries.get(key.array)
        if temporary is not None:
            return temporary_element(temporary, key.subscripts or (), self.index)
        template = element_template(self.scop.array(key.array), len(key.subscripts or ()), self.local_names)
        return fill_element(template, [self.index.form(form).text for form in key.subscripts or ()])

    def _type(self, key: Reach, piece: Piece) -> str:
        if not piece.vector:
            return piece.dtype.c_name
        return self.types.name(piece.dtype, self.lanes if key.lanes is Lanes.SPREAD else key.span)

    def _element(self, partial: Partial) -> CText:
        """The element that is reduced into."""
        forms = partial.subscripts
        temporary = self.temporaries.get(partial.array)
        key = Reach(partial.array, forms if temporary is None else temporary.subscripts(forms), Lanes.UNIFORM, 1)
        return self._place(key)


def _depends(key: Reach, names: frozenset[str]) -> bool:
    return any(depends_on(form, names) for form in key.subscripts or ())

