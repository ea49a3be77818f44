"""The C text that declares and fills a panel: whole vectors where the source has them, single elements elsewhere."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import arms_of
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Linear,
    Variable,
    constant,
    junction,
    substitute,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import For, PackedOperand, Panel
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.register_tiles.packing import off_the_grid
from polysched.emit_c.register_tiles.tile_accesses import is_contiguous
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES
from polysched.emit_c.scalar_code.loop_head import loop_head
from polysched.emit_c.scalar_code.statements import INDENT, braced, branches
from polysched.emit_c.scalar_code.thread_arrays import array_of_thread
from polysched.emit_c.scalar_code.vector_types import VectorTypes, has_vectors
from polysched.emit_c.vector_code.tile_scope import Piece, TileScope
from polysched.emit_c.vector_code.turned_copies import Squares
from polysched.emit_c.vector_code.vector_expressions import NotVectorised, VectorPrinter, vector_at
from polysched.records import dataclass
from polysched.scop.body import Load, walk
from polysched.target.target import Target

LARGEST_ON_STACK = LIMITS.largest_panel_on_stack_bytes
MOST_UNROLLED = LIMITS.most_unrolled_copies
LONGEST_RUN = LIMITS.longest_run


@dataclass(frozen=True, kw_only=True)
class PanelCopy:
    """Prints the copy of one panel.

    Parameters
    ----------
    panel : what is copied where.
    printer : prints the statement whose operand it is, with its iterators in terms of the panel's loops.
    types, taken, in_use : vector types; names that must not be made up; names of all loop variables.
    vector_bits : width of a vector register.
    target : the machine, for its first cache and what a team costs.
    threads : a shared panel may be filled by a team of threads.
    clears : rows that are cut off get zeros behind their end.
    """

    panel: Panel
    printer: ExpressionPrinter
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    vector_bits: int
    target: Target
    threads: bool = True
    clears: bool = False

    @property
    def comment(self) -> str:
        """What is in the panel."""
        arrays = {self.printer.statement.access(e.reference).array for e in walk(self.panel.value)
                  if isinstance(e, Load)}
        once = " once for all threads" if self.panel.shared else ""
        return f"/* {', '.join(sorted(arrays))}, packed{once} */"

    def declaration(self) -> list[str]:
        """The buffer.

        A large one belongs to the thread, so that its memory is touched for the first time only once, and one that
        is not always filled, so that tiles that are cut off find numbers in the rest.  A shared one is on the heap.
        """
        if self.panel.shared:
            return []
        if self.panel.bytes > LARGEST_ON_STACK or not self._is_full():
            return array_of_thread(self.panel.value.dtype.c_name, self.panel.name, self.panel.extents, self.taken)
        extents = "".join(f"[{extent}]" for extent in self.panel.extents)
        return [f"{self.panel.value.dtype.c_name} {self.panel.name}{extents}"
                f" __attribute__((aligned({ALIGNMENT_BYTES})));"]

    def lines(self) -> list[str]:
        """The loops that fill the buffer."""
        if self.panel.shared:
            return self._by_all_threads()
        turned = self._turned()
        if turned is not None:
            return turned
        *outer, last = self.panel.loops
        lanes = self.vector_bits // self.panel.value.dtype.bits if has_vectors(self.panel.value.dtype) else 0
        single = self._around(outer, self._one_by_one(last))
        count = self.panel.extents[-1]
        if lanes < 2 or not self._is_last(last) or count < lanes:
            return single
        try:
            if self.panel.in_lanes and count % lanes == 0 and count // lanes <= MOST_UNROLLED:
                return self._in_whole_rows(outer, last, lanes)
            return self._in_strips(outer, last, lanes)
        except NotVectorised:
            return single

    def _turned(self) -> list[str] | None:
        """Rows that lie apart, a short run of each at a time, transposed in registers; None where that has no form."""
        panel, lanes = self.panel, self.vector_bits // self.panel.value.dtype.bits
        across = next((at for at, loop in enumerate(panel.loops) if self._is_last(loop)), -1)
        outer, run = panel.loops[:across], panel.loops[across + 1:]
        extents = panel.extents[len(panel.extents) - 1 - len(run):-1]
        if across < 0 or not run or not panel.in_lanes or not has_vectors(panel.value.dtype) or lanes < 2 or (
                panel.extents[-1] % lanes) or prod(extents) > LONGEST_RUN or any(
                loop.lower != constant(0) or loop.upper != constant(n) for loop, n in zip(run, extents, strict=True)):
            return None
        single = self._around([*outer, panel.loops[across]], self._around(list(run[:-1]), self._one_by_one(run[-1])))
        rows = prod(extents)
        copy = (f"{panel.value.dtype.c_name} {self._rows_buffer}[{panel.extents[-1]}][{-(-rows // lanes) * lanes}]"
                f" __attribute__((aligned({ALIGNMENT_BYTES}))) = {{0}};")
        return _scope([copy, *self._where_full(panel.loops[across], list(outer), self._run(
            panel.loops[across], run, lanes, rows), single)])

    @property
    def _rows_buffer(self) -> str:
        """The name of the buffer in which rows lie side by side on their way."""
        return self.taken.fresh(f"{self.panel.name}_rows", self.in_use)

    def _where_full(self, loop: For, outer: list[For], full: list[str], otherwise: list[str]) -> list[str]:
        """Lines inside the outer loops where a loop fills the last dimension of the panel, and others where not."""
        ends = [(low, high) for low in arms_of(loop.lower, "max") for high in arms_of(loop.upper, "min")]
        unsure = [Comparison(">=", high, low + self.panel.extents[-1]) for low, high in ends
                  if high - low != constant(self.panel.extents[-1])]
        if loop.lower != self._origin_of(loop):
            return otherwise
        if not unsure:
            return self._around(outer, full)
        condition = junction("&&", unsure)
        if variables(condition) & {around.variable for around in outer}:
            single = self._around([loop, *self.panel.loops[len(outer) + 1:-1]], self._one_by_one(self.panel.loops[-1]))
            return self._around(outer, _either(self.printer.index.condition(condition), full, single))
        return _either(self.printer.index.condition(condition), self._around(outer, full), otherwise)

    def _run(self, across: For, run: tuple[For, ...], lanes: int, rows: int) -> list[str]:
        """A run of each row copied side by side, then turned into the panel."""
        panel, index, copy = self.panel, self.printer.index, self._rows_buffer
        start, width = self._origin_of(across), panel.extents[-1]
        first = {loop.variable: constant(0) for loop in run}
        row = f"{copy}[{index.form(variable(across.variable) - start).text}]"
        if self._lies_in_rows(run):
            scalar = replace(self.printer, iterators={name: substitute(form, first)
                                                      for name, form in self.printer.iterators.items()})
            moves = [f"__builtin_memcpy({row}, &{scalar.value(panel.value)}, {rows * panel.value.dtype.bytes});"]
        else:
            at = constant(0)
            for loop in run:
                at = at * (loop.upper - loop.lower).constant + variable(loop.variable)
            moves = self._around(list(run), [f"{row}[{index.form(at).text}] = {self.printer.value(panel.value)};"])
        operand = PackedOperand(panel.name, tuple(substitute(f, first | {across.variable: start})
                                                  for f in panel.subscripts), True)
        target = self.printer.panel_element(operand)
        squares = Squares(dtype=panel.value.dtype, rows=rows, columns=width, lanes=lanes, types=self.types,
                          fresh=lambda wish: self.taken.fresh(wish, self.in_use))
        return [*self._around([across], moves),
                *squares.lines(lambda c, r: f"{copy}[{c}][{r}]", lambda c, r: f"(&{target})[{width} * ({r}) + {c}]",
                               into_lanes=True)]

    def _lies_in_rows(self, run: tuple[For, ...]) -> bool:
        """Whether what some loops from 0 on read are neighbours in memory: whole last dimensions of an array."""
        if not isinstance(self.panel.value, Load) or self.printer.temporaries:
            return False
        access = self.printer.statement.access(self.panel.value.reference)
        array = self.printer.scop.array(access.array)
        forms = [linear_form(s, self.printer.iterators) for s in access.subscripts[-len(run):]]
        others = [linear_form(s, self.printer.iterators) for s in access.subscripts[:-len(run)]]
        names = {loop.variable for loop in run}
        return is_contiguous(array) and forms == [
            variable(loop.variable) for loop in run] and not any(
            form is None or variables(form) & names for form in others) and all(
            extent is not None and loop.upper == constant(_constant_of(extent))
            for loop, extent in zip(run[1:], array.extents[len(array.extents) - len(run) + 1:], strict=True))

    def _by_all_threads(self) -> list[str]:
        """The copy of a shared panel; the longest of the loops that the threads share is divided among them."""
        loops = self._in_memory_order(self.panel.loops[:self.panel.shared])
        part = replace(self, panel=replace(self.panel, loops=self.panel.loops[self.panel.shared:], shared=0),
                       clears=not self._is_full() and self._ends_rows())
        lines = part.lines()
        team = self._team()
        start = [] if part.clears or self._is_full() else self._cleared(team)
        if team is None:
            return [*start, *self._around(list(loops), lines)]
        divided = max(loops, key=_length)
        for loop in reversed(loops):
            pragma = f"parallel for{team}" if loop is loops[0] else "for nowait"
            lines = [*([f"#pragma omp {pragma}"] if loop is divided else []),
                     *braced(loop_head(loop, self.printer.index), lines)]
        return [*start, *(lines if divided is loops[0] else [f"#pragma omp parallel{team}", *lines])]

    def _team(self) -> str | None:
        """The clause that says when the copy is worth a team, none where it always is; None where it never is."""
        extents, fewest = self.panel.outer, self.target.team_bytes
        enough = prod(int(extent) for extent in extents if extent.isdecimal()) * self.panel.bytes >= fewest
        if not self.threads or not (enough or not all(extent.isdecimal() for extent in extents)):
            return None
        return "" if enough else f" if({self.panel.bytes_text} >= {fewest})"

    def _cleared(self, team: str | None) -> list[str]:
        """Zeros everywhere, a block of the first dimension at a time: each thread is the first to touch its blocks."""
        block, name = self.taken.fresh("block", self.in_use), self.panel.name
        count = (*self.panel.outer, *map(str, self.panel.extents))[0]
        return [*([] if team is None else [f"#pragma omp parallel for{team}"]),
                *braced(f"for (long {block} = 0; {block} < {count}; {block}++)",
                        [f"__builtin_memset(&{name}[{block}], 0, sizeof {name}[{block}]);"])]

    def _in_memory_order(self, loops: tuple[For, ...]) -> tuple[For, ...]:
        """The loops to share with those inmost that move the lanes: so that whole rows are read one after the other."""
        *around, own = loops
        used = variables(own.lower) | variables(own.upper)
        along = [loop for loop in around if self.panel.in_lanes and loop.variable not in used
                 and loop.variable in variables(self.panel.loops[-1].lower)]
        return (*(loop for loop in around if loop not in along), own, *along)

    def _is_full(self) -> bool:
        """Whether every element that tiles read is filled: elements of no value may be subnormal, which is slow."""
        return all(self._fills(loop) for loop in self.panel.loops)

    def _fills(self, loop: For) -> bool:
        """Whether a loop fills its dimension, whatever cuts off the tiles."""
        (low, *lows), (high, *highs) = arms_of(loop.lower, "max"), arms_of(loop.upper, "min")
        if lows or highs:
            return False
        length, panel = high - low, self.panel
        own = panel.subscripts[len(panel.subscripts) - len(panel.extents):]
        wanted = [extent for form, extent in zip(own, panel.extents, strict=True)
                  if form.coefficient(Variable(loop.variable))]
        return not length.is_constant or set(wanted) <= {
            length.constant, off_the_grid(length.constant, panel.value.dtype.bytes, self.target)}

    def _ends_rows(self) -> bool:
        """Whether the copy itself can clear what is behind the end of a row of lanes, which is all that tiles see."""
        last = self.panel.loops[-1]
        return self.panel.in_lanes and self._is_last(last) and last.lower == self._origin()

    def _origin(self) -> Linear:
        """The value of the last loop's variable at the beginning of a row."""
        return self._origin_of(self.panel.loops[-1])

    def _origin_of(self, loop: For) -> Linear:
        return variable(loop.variable) - self.panel.subscripts[-1]

    def _rest_of_row(self, last: For) -> list[str]:
        """Zeros behind the end of a row, where the copy has to clear it."""
        if not self.clears:
            return []
        rest = replace(last, lower=last.upper, upper=self._origin() + self.panel.extents[-1])
        operand = PackedOperand(self.panel.name, self.panel.subscripts, True)
        return braced(loop_head(rest, self.printer.index), [f"{self.printer.panel_element(operand)} = 0;"])

    def _in_whole_rows(self, outer: list[For], last: For, lanes: int) -> list[str]:
        """Full rows in straight code."""
        count = self.panel.extents[-1]
        index = self.printer.index
        one = self._one_by_one(last)
        moves = [line for offset in range(0, count, lanes) for line in self._move(offset, lanes)]
        start = f"const long {last.variable} = {index.bound(last.lower)};"
        ends = [(low, high) for low in arms_of(last.lower, "max") for high in arms_of(last.upper, "min")]
        if any((high - low).is_constant and (high - low).constant < count for low, high in ends):
            return self._around(outer, one)
        unsure = [Comparison(">=", high, low + count) for low, high in ends if not (high - low).is_constant]
        if not unsure:
            return self._around(outer, _scope([start, *moves]))
        full = junction("&&", unsure)
        if variables(full) & {loop.variable for loop in outer}:
            return self._around(outer, _either(index.condition(full), [start, *moves], one))
        return _either(index.condition(full), [start, *self._around(outer, moves)], self._around(outer, one))

    def _in_strips(self, outer: list[For], last: For, lanes: int) -> list[str]:
        """Vectors along the row as long as they fit, then single elements."""
        index = self.printer.index
        name = last.variable
        if self.clears:
            return self._around(outer, self._one_by_one(last))
        end = self.taken.fresh(f"{name}_end", self.in_use)
        lines = [f"long {name} = {index.bound(last.lower)};",
                 *braced(f"for (; {name} + {lanes} <= {end}; {name} += {lanes})", self._move(0, lanes)),
                 *braced(f"for (; {name} < {end}; {name}++)", self._move(0, 1))]
        ends = f"const long {end} = {index.bound(last.upper)};"
        if variables(last.upper) & {loop.variable for loop in outer}:
            return self._around(outer, [ends, *lines])
        return _scope([ends, *self._around(outer, lines)])

    def _one_by_one(self, last: For) -> list[str]:
        return [*braced(loop_head(last, self.printer.index), self._move(0, 1)), *self._rest_of_row(last)]

    def _around(self, loops: list[For], lines: list[str]) -> list[str]:
        for loop in reversed(loops):
            lines = braced(loop_head(loop, self.printer.index), lines)
        return lines

    def _is_last(self, loop: For) -> bool:
        """Whether a loop runs along the last dimension of the panel."""
        return self.panel.subscripts[-1].coefficient(Variable(loop.variable)) == 1

    def _move(self, offset: int, lanes: int) -> list[str]:
        """The copy of `lanes` elements, `offset` further along the last loop."""
        name = self.panel.loops[-1].variable
        here = {name: variable(name) + offset}
        scalar = replace(self.printer, iterators={k: substitute(form, here)
                                                  for k, form in self.printer.iterators.items()})
        operand = PackedOperand(self.panel.name, tuple(substitute(f, here) for f in self.panel.subscripts), True)
        target = scalar.panel_element(operand)
        if lanes == 1:
            return [f"{target} = {scalar.value(self.panel.value)};"]
        scope = TileScope(registers={}, written=frozenset(), taken=self.taken,
                          in_use=self.in_use | {loop.variable for loop in self.panel.loops})
        printer = VectorPrinter(scalar=scalar, types=self.types, lanes=lanes, edge=name, scope=scope)
        value = self._vector(printer)
        if not value.vector:
            raise NotVectorised("the operand does not move along the panel's rows")
        whole = vector_at(target, self.types.name(self.panel.value.dtype, lanes))
        move = f"{whole} = {value.text};"
        return _scope([*scope.lines, move]) if scope.lines else [move]

    def _vector(self, printer: VectorPrinter) -> Piece:
        if not isinstance(self.panel.value, Load):
            return printer.value(self.panel.value)
        access = self.printer.statement.access(self.panel.value.reference)
        return printer.loaded(access, printer.reach(access), self.panel.value.dtype)


def _constant_of(extent: isl.PwAff) -> int:
    """The value of an extent that no parameter decides, else -1."""
    values = isl.Set.from_pw_aff(extent)
    value = values.plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.to_python()) if value.is_int() else -1


def _length(loop: For) -> int:
    """Most iterations of a loop; 0 where nothing constant bounds them."""
    return min(((high - low).constant for low in arms_of(loop.lower, "max") for high in arms_of(loop.upper, "min")
                if (high - low).is_constant), default=0)


def _either(condition: CText, then: list[str], otherwise: list[str]) -> list[str]:
    return branches(condition, (INDENT + line for line in then), (INDENT + line for line in otherwise))


def _scope(lines: list[str]) -> list[str]:
    return ["{", *(INDENT + line for line in lines), "}"]
