"""The loop IR -> the lines of one region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from math import prod

from polysched.emit_c.bodies.narrow_stores import stores_lane_by_lane
from polysched.emit_c.bodies.operations import only_copies
from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, depends_on
from polysched.emit_c.loop_ir.index import Comparison, Linear, rounded_towards_zero, variable, variables
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    RegisterTile,
    StatementInstance,
    Temporary,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.traversal import as_loops, instances
from polysched.emit_c.nests.vector_loops import one_vector
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Point, is_whole, iterators_at, packed_at
from polysched.emit_c.scalar_code.band_comments import BandComments
from polysched.emit_c.scalar_code.c_text import CText, Level, joined
from polysched.emit_c.scalar_code.early_exit import entry_test, exit_test, is_element, loops_of_test
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES, part_of_thread
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter, parameter_ranges
from polysched.emit_c.scalar_code.int_variables import with_int_variable
from polysched.emit_c.scalar_code.loop_head import loop_head
from polysched.emit_c.scalar_code.openmp import descends, pragmas, runs_in_lanes, runs_on_threads
from polysched.emit_c.scalar_code.preemption import StopNames
from polysched.emit_c.scalar_code.region_branches import with_pragmas
from polysched.emit_c.scalar_code.size_text import at_least_one
from polysched.emit_c.scalar_code.statements import INDENT, braced, branches, print_body
from polysched.emit_c.scalar_code.thread_arrays import array_of_thread
from polysched.emit_c.scalar_code.tracing import LANES, PARTS, THREADS, instance_call, unordered_loop
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.needed_tiles import tile_tests
from polysched.emit_c.vector_code.panel_copy import PanelCopy
from polysched.emit_c.vector_code.thread_parts import ThreadParts
from polysched.emit_c.vector_code.tile_code import TileCode
from polysched.emit_c.vector_code.tile_traits import (
    chooses_across_types,
    computes_integers,
    converts_far,
    holds_elements,
    scatters,
    widest_vector,
)
from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from polysched.emit_c.vector_math import VectorMath, has_vector_function
from polysched.records import dataclass
from polysched.scop.body import Call, Select, assignments, statement_expressions, walk
from polysched.scop.scop import Scop

STRIDED_VECTORS = LIMITS.strided_vectors


@dataclass(frozen=True)
class Place:
    """Where in the region a node is printed: the loops around it, and what holds there.

    Parameters
    ----------
    emptied : a branch ahead has emptied the registers for the tiles of all its arms.
    """

    above: tuple[For, ...]
    facts: Facts
    emptied: bool = False

    def inside(self, loop: For) -> Place:
        return Place((*self.above, loop), self.facts.inside(loop))


@dataclass(frozen=True, kw_only=True)
class RegionPrinter:
    """Prints the nodes of one region.

    Parameters
    ----------
    scop : holds the bodies.
    index : prints bounds and subscripts.
    local_names : C names of the region-local arrays.
    options : which pragmas and comments are wanted.
    comments : decides which loops get one.
    types : declares vector types.
    taken, loop_names : names that made-up variables must not take.
    math : declares functions of math.h on vectors; None leaves calls to the C library.
    tested_teams : gets band and member of loops on threads that are printed in two branches.
    wrapping : the bodies where updates of sums are not in the source's order; None for those of `scop`.
    stops : names for a region that can be stopped behind its tiles; None for others.
    """

    scop: Scop
    index: IndexPrinter
    local_names: Mapping[str, str]
    options: EmitOptions
    comments: BandComments
    types: VectorTypes
    taken: TakenNames
    loop_names: frozenset[str]
    math: VectorMath | None = None
    tested_teams: list[tuple[int, int]] = field(default_factory=list)
    wrapping: Scop | None = None
    stops: StopNames | None = None

    def lines(self, node: Node, place: Place) -> list[str]:
        """The lines of a node, not indented."""
        match node:
            case Block():
                return [line for child in node.children for line in self._among_others(child, place)]
            case For():
                return self._for(node, place)
            case If():
                return self._if(node, place)
            case Let():
                inner = replace(place, facts=place.facts.where(node))
                return [f"const long {node.variable} = {self.index.bound(node.value)};", *self.lines(node.body, inner)]
            case RegisterTile():
                return self._tile(node, place)
            case Packed():
                return self._packed(node, place)
            case OnCopy():
                return self._on_copy(node, place)
            case Local():
                declared = [line for temporary in node.temporaries for line in self._declaration(temporary)]
                return [*declared, *self.lines(node.body, place)]
            case ThreadReduction():
                return self._thread_reduction(node, place)
            case StatementInstance():
                return self._instance(node)

    def _thread_reduction(self, node: ThreadReduction, place: Place) -> list[str]:
        """A loop in parts; for a check of the order, the loop as it was."""
        if self.options.trace is not None:
            body = self.lines(node.whole.body, place.inside(node.whole))
            return unordered_loop(self.options.trace, [PARTS], loop_head(node.whole, self.index), body)
        used = self.loop_names | {node.first, node.end, node.part}
        parts = ThreadParts(
            node=node, scop=self.scop, index=self.index, local_names=self.local_names,
            line_bytes=self.options.line_bytes, least_work=self.options.team_iterations,
            fresh=lambda wish: self.taken.fresh(wish, used),
            element=lambda e: self._printer(e.instance, Point(())).element(
                statement_at(self.scop, e.instance).access(e.reference)))
        inside = Place((*place.above, replace(node.whole, mark=replace(node.whole.mark, parallel=True))),
                       place.facts.inside_part(node))
        lines = ["{", *_indent(parts.lines(self.lines(node.loop, inside))), "}"]
        if not self.options.comments:
            return lines
        names = ", ".join(t.array for p in node.parts for t in p.temporaries)
        return [f"/* partial results of {names} per thread, combined in the order of the threads */", *lines]

    def _declaration(self, temporary: Temporary) -> list[str]:
        if temporary.memory:
            return [part_of_thread(self.scop, temporary, line_bytes=self.options.line_bytes)]
        extents = "".join(f"[{extent}]" for extent in temporary.extents)
        aligned = f" __attribute__((aligned({ALIGNMENT_BYTES})))" if extents else ""
        dtype = self.scop.array(temporary.array).dtype
        if prod(temporary.extents) * dtype.bytes > self.options.buffer_bytes:
            return array_of_thread(dtype.c_name, temporary.name, temporary.extents, self.taken)
        return [f"{dtype.c_name} {temporary.name}{extents}{aligned};"]

    def _among_others(self, child: Node, place: Place) -> list[str]:
        lines = self.lines(child, place)
        return ["{", *_indent(lines), "}"] if declares(child, lines) else lines

    def _for(self, loop: For, place: Place) -> list[str]:
        simd = self.options.simd and not stores_lane_by_lane(loop, self.scop)
        wanted = pragmas(loop, above=place.above, threads=self.options.openmp, simd=simd, index=self.index)
        index = self.index if self.options.trace is not None else with_int_variable(self.index, loop, self.scop)
        down = self.options.openmp and self.options.trace is None and descends(loop, above=place.above, index=index)
        inside, below = replace(self, index=index), place.inside(loop)
        head, body = loop_head(loop, index, down=down), inside.lines(loop.body, below)
        if self.options.trace is not None:
            reasons = {THREADS: self.options.openmp and runs_on_threads(loop, place.above),
                       LANES: self.options.simd and runs_in_lanes(loop)}
            return unordered_loop(self.options.trace, [kind for kind, holds in reasons.items() if holds], head, body)
        body = inside._iteration(loop, body, below.facts, alone=bool(wanted))
        lines = with_pragmas(loop, braced(head, body), above=place.above, threads=self.options.openmp, simd=simd,
                             index=self.index, tested=self.tested_teams)
        needed = self._entered_if(loop, place)
        comment = self.comments.before(loop, above=place.above) if self.options.comments else []
        return [*comment, *(lines if needed is None else braced(f"if ({needed})", lines))]

    def _entered_if(self, loop: For, place: Place) -> str | None:
        """The test without which a loop has nothing to do, unless a loop around it has made the test."""
        needed = None if self.options.preemptible else self._entry_test(loop)
        if needed is None or needed in map(self._entry_test, place.above):
            return None
        return self._where_made((needed,), (loop,), place.facts)

    def _entry_test(self, loop: For) -> str | None:
        return entry_test(loop, lambda leaf: self._printer(leaf, Point(())))

    def _iteration(self, loop: For, body: list[str], facts: Facts, *, alone: bool) -> list[str]:
        """The lines of an iteration with what stands around them.

        Parameters
        ----------
        alone : iterations share a pragma, so that none ends the loop.
        """
        flag = None if alone or loop.mark.parallel or loop.yields else self.exit_test(loop)
        left = None if flag is None else self._where_made((f"!{flag}",), loops_of_test(loop.body) or (), facts)
        body = [*body, *([] if left is None else [f"if ({left})", f"{INDENT}break;"]),
                *(['__asm__("" ::: "memory");'] if loop.forgets else []),
                *([f"{self.index.macros.use('fence')}();"] if loop.fences else [])]
        return self.stops.tile_lines(body) if self.stops is not None and loop.yields else body

    def exit_test(self, loop: For) -> str | None:
        """The variable that a sequential loop is left early by; None where it runs to its end."""
        return exit_test(loop, lambda leaf: self._printer(leaf, Point(())))

    def _if(self, node: If, place: Place) -> list[str]:
        condition = self.index.condition(node.condition)
        first = [] if place.emptied else self._emptied_for_all(node, place)
        place = replace(place, emptied=place.emptied or bool(first))
        then = self.lines(node.then, replace(place, facts=place.facts.given(node.condition)))
        if node.otherwise is None:
            return braced(f"if ({condition})", then)
        otherwise = self.lines(node.otherwise, place)
        return [*first, *branches(condition, _indent(then), _indent(otherwise))]

    def _emptied_for_all(self, node: Node, place: Place) -> list[str]:
        """What empties the registers, once ahead of a branch of which every arm is a tile that wants that.

        In each of the arms it makes gcc spill sums that it has registers for without a branch.
        """
        match node:
            case Let():
                return self._emptied_for_all(node.body, replace(place, facts=place.facts.where(node)))
            case If(otherwise=otherwise) if otherwise is not None:
                arms = [self._emptied_for_all(arm, place) for arm in (node.then, otherwise)]
                return arms[0] if all(arms) else []
            case RegisterTile():
                return self._tile_code(node, place.facts).emptied_registers()
            case _:
                return []

    def _tile(self, tile: RegisterTile, place: Place) -> list[str]:
        """A full register tile as straight code, or as loops when its body has no form in registers."""
        try:
            code = self._tile_code(tile, place.facts)
            lines = replace(code, around=place.above[-1].variable if place.above else None,
                            emptied=place.emptied).lines()
        except NotVectorised:
            if tile.panels:
                raise
            return self.lines(as_loops(tile), place)
        comment = self._tile_comment(tile, place) if self.options.comments else []
        bases = [f"const long {edge.variable} = {self.index.bound(edge.base)};" for edge in tile.edges
                 if not edge.is_own_variable]
        needed = self._needed_if(tile, place)
        return [*comment, *bases, *(lines if needed is None else braced(f"if ({needed})", lines))]

    def _needed_if(self, tile: RegisterTile, place: Place) -> str | None:
        """The test without which a register tile has nothing to do, unless a loop around it has made the test."""
        tests = () if self.options.preemptible else tile_tests(tile, self._printer)
        made = [self._entry_test(loop) for loop in place.above] if tests else []
        if not tests or tests[0] in made:
            return None
        return self._where_made(tests, tile.loops, place.facts)

    def _where_made(self, tests: Sequence[str], loops: Sequence[For], facts: Facts) -> str | None:
        """That one of some tests holds; of elements, which exist where loops run, only there.

        None where a loop around tells whether one inside of it runs.
        """
        runs: list[CText] = []
        for loop in loops if any(map(is_element, tests)) else ():
            if not facts.runs(loop):
                if any(depends_on(bound, frozenset(o.variable for o in loops)) for bound in (loop.lower, loop.upper)):
                    return None
                runs.append(self.index.condition(Comparison("<", loop.lower, loop.upper)))
            facts = facts.inside(loop)
        return str(joined("&&", [*runs, joined("||", [CText(test, Level.UNARY) for test in tests])]))

    def _tile_comment(self, tile: RegisterTile, place: Place) -> list[str]:
        """What is said of a tile: the statements of a loop, what lies in lanes, or the shape; nothing of a row."""
        if tile.loops and not tile.edges:
            return self.comments.before(tile.loops[0], above=place.above)
        if tile.partials:
            names = ", ".join(p.array for p in tile.partials)
            return [f"/* what is added to {names} is computed in lanes, and added in order */"
                    if tile.partials[0].in_order else f"/* partial results of {names} in lanes */"]
        row = len(tile.edges) == 1 and tile.edges[0].simd and tile.edges[0].is_own_variable
        if row or not tile.edges or (not tile.loops and len(tile.edges) == 1):
            return []
        return [f"/* register tile of {' x '.join(str(edge.count) for edge in tile.edges)}{_on_copy(tile)} */"]

    def has_form(self, tile: RegisterTile, facts: Facts) -> bool:
        """Whether a tile can be printed as straight code; nothing is declared by asking."""
        types = VectorTypes(self.taken)
        scratch = replace(self, types=types, math=None if self.math is None else self.math.unused(types),
                          index=replace(self.index, macros=HelperMacros(self.taken)))
        try:
            scratch._tile_code(tile, facts).lines()
        except NotVectorised:
            return False
        return True

    def size_text(self, form: Linear) -> str | None:
        """A number of elements that only parameters decide, at least one; None where the text needs helpers.

        It stands ahead of what asks whether the parameters are those of the region.
        """
        if variables(form) & self.loop_names:
            return None
        any_values = parameter_ranges(self.scop, self.scop.context.params())
        for size in (form, rounded_towards_zero(form)):   # of a negative number either is at most one
            macros = HelperMacros(self.taken)
            text = replace(self.index, macros=macros, parameters=any_values).bound(size)
            if not macros.definitions():
                return at_least_one(str(text))
        return None

    def lanes_of(self, tile: RegisterTile) -> int:
        """Lanes of the vectors of a tile that has a form."""
        return self._tile_code(tile, Facts(context=self.scop.context)).lanes

    def may_run_twice(self, tile: RegisterTile) -> bool:
        """Whether points of a tile that has a form may be computed twice."""
        code = self._tile_code(tile, Facts(context=self.scop.context))
        return code.may_run_twice(code.lanes)

    def reads_beyond(self, tile: RegisterTile) -> int | None:
        """How many elements behind its own a loop over vectors, which has a form, reads for the next vector.

        None where vectors share no reads.
        """
        return self._tile_code(tile, Facts(context=self.scop.context)).reads_beyond()

    def promotes(self, tile: RegisterTile, facts: Facts) -> bool:
        """Whether a tile has a form that holds an element in a register around all its loops."""
        return self.has_form(tile, facts) and holds_elements(self._tile_code(tile, facts))

    def scatters(self, tile: RegisterTile) -> bool:
        """Whether vectors of a tile are written to elements that lie apart."""
        return scatters(self._tile_code(tile, Facts(context=self.scop.context)))

    def has_vector_calls(self, node: Node) -> bool:
        """Whether a statement below calls a function that the region computes on vectors."""
        bodies = [statement_at(self.scop, instance).body for instance in instances(node)]
        return self.math is not None and any(
            isinstance(part, Call) and has_vector_function(part.function)
            for body in bodies for top in statement_expressions(body) for part in walk(top))

    def vector_width(self, loop: For, facts: Facts) -> int:
        """Iterations that one vector step of a simd loop takes; 0 when its body has no vector form.

        Elements that lie apart are gathered one by one, which pays where a function is computed of them.  Narrow
        elements in wide arithmetic are better left to the compiler, unless there is such a function.  So are copies,
        for which it calls the C library, unless vectors fill lines (durbin on a Zen 4, by hand: 0.96 of the time).
        Choices that compilers make by branches are made in lanes, also of a buffer's elements that lie apart.
        """
        if self.options.vector_bits < 8 * self.options.line_bytes and only_copies(loop, self.scop):
            return 0
        calls = self.has_vector_calls(loop.body)
        code = self._tile_code(one_vector(loop, 2), facts)
        chooses = not calls and chooses_across_types(code)
        if not calls and not chooses and converts_far(code):
            return 0
        apart = frozenset({Lanes.REVERSED, Lanes.STRIDED, Lanes.SPREAD}) if calls else frozenset()
        width = widest_vector(code, also=frozenset({Lanes.SPREAD}) if chooses else apart)
        length = loop.upper - loop.lower
        while chooses and length.is_constant and 1 < length.constant < width:
            width //= 2
        return width if width > 1 and self.has_form(one_vector(loop, width), facts.inside(loop)) else 0

    def reduction_width(self, tile: RegisterTile, facts: Facts) -> int:
        """Lanes in which a loop reduces, whatever its accesses' direction; 0 when its body has no vector form.

        Compilers sum short integers better by themselves; they may not reorder sums of floats.
        """
        code = self._tile_code(tile, facts)
        if computes_integers(code) and converts_far(code):
            return 0
        width = widest_vector(code, also=frozenset({Lanes.REVERSED, Lanes.STRIDED}))
        wide = replace(tile, edges=tuple(replace(edge, count=width) for edge in tile.edges))
        return width if width > 1 and self.has_form(wide, facts) else 0

    def addend_width(self, tile: RegisterTile, facts: Facts) -> int:
        """Lanes in which the addends of a sum are computed, whose order stays; 0 where that does not pay.

        It pays for choices, which compilers make by branches below -O3.
        """
        bodies = [statement_at(self.scop, instance).body for instance in instances(tile.body)]
        values = [item.value for body in bodies for item in assignments(body)]
        if not any(isinstance(part, Select) for value in values for part in walk(value)):
            return 0
        code = self._tile_code(tile, facts)
        most_bits = self.options.target.costs.ordered_sum_bits
        width = min(widest_vector(code), most_bits // max((d.bits for d in code.dtypes()), default=1))
        wide = replace(tile, edges=tuple(replace(edge, count=width) for edge in tile.edges))
        return width if width > 1 and self.has_form(wide, facts) else 0

    def rows_gain(self, tile: RegisterTile, rows: For) -> bool:
        """Whether several rows in step gain: sums of integers, which compilers reorder, where they share an operand."""
        code, moving = self._tile_code(tile, Facts(context=self.scop.context)), frozenset({rows.variable})
        return not computes_integers(code) or any(
            not a.writes and bool(a.generic.subscripts) and not any(depends_on(form, moving) for form in (
                a.generic.subscripts or ())) for a in code.accesses(1))

    def rows_in_lanes(self, tile: RegisterTile, rows: For, facts: Facts) -> RegisterTile | None:
        """The loop of a row for a vector of rows or several; None where it has no such form.

        Its columns are transposed; where rows lie apart within a row of memory, lanes are picked out of whole vectors.
        """
        if len(tile.loops) != 1 or tile.loops[0].step != 1 or tile.edges or tile.private or tile.partials:
            return None
        (loop,) = tile.loops
        edge = Edge(variable=rows.variable, base=variable(rows.variable), count=2, simd=True)
        code = self._tile_code(replace(tile, edges=(edge,)), facts)
        lanes = widest_vector(code, also=frozenset({Lanes.STRIDED}))
        if lanes > 1 and code.reads_strided():
            picked = replace(tile, edges=(replace(edge, count=STRIDED_VECTORS * lanes),))
            return picked if self.has_form(picked, facts) and self.promotes(picked, facts) else None
        lanes = widest_vector(code, also=frozenset({Lanes.SPREAD, Lanes.STRIDED}))
        if lanes < 2 or computes_integers(code):   # sums of integers are reordered along their rows instead
            return None
        columns = Edge(variable=loop.variable, base=variable(loop.variable), count=lanes, simd=False)
        made = replace(tile, loops=(replace(loop, upper=loop.upper - (lanes - 1), step=lanes),),
                       edges=(replace(edge, count=-(-self.options.rows_in_flight // lanes) * lanes), columns))
        fits = self.has_form(made, facts) and self._tile_code(made, facts).reads_transposed()
        return made if fits and self.promotes(made, facts) else None

    def _tile_code(self, tile: RegisterTile, facts: Facts) -> TileCode:
        for edge in tile.edges:
            if not edge.is_own_variable:   # in the tile the variable stays at its first point
                facts = facts.without(edge.variable).given(Comparison("==", variable(edge.variable), edge.base))

        bodies = self
        if self.wrapping is not None and (tile.partials or tile.within):   # a cut tile sums up other elements, too
            bodies = replace(self, scop=self.wrapping)

        def printer_for(instance: StatementInstance, point: Point) -> ExpressionPrinter:
            return replace(bodies._printer(instance, point), packed=packed_at(tile, instance.statement, point))

        return TileCode(tile=tile, scop=bodies.scop, types=self.types, taken=self.taken, in_use=self.loop_names,
                        facts=facts, printer_for=printer_for, vector_bits=self.options.vector_bits,
                        vector_registers=self.options.registers,
                        target=self.options.target, index=self.index,
                        local_names=self.local_names, math=self.math)

    def _packed(self, node: Packed, place: Place) -> list[str]:
        """The panel's declaration, the loops that fill it, and the body."""
        copy = PanelCopy(panel=node.panel, printer=self._printer(node.source, Point(())), types=self.types,
                         taken=self.taken, in_use=self.loop_names, vector_bits=self.options.vector_bits,
                         target=self.options.target,
                         threads=self.options.openmp and not any(runs_on_threads(loop, ()) for loop in place.above))
        lines = [*copy.declaration(), *copy.lines(), *self.lines(node.body, place)]
        return [copy.comment, *lines] if self.options.comments else lines

    def _on_copy(self, node: OnCopy, place: Place) -> list[str]:
        """The copy, the tiles, and the way back."""
        copy = self._tile_code(node.tile, place.facts).copy_of_rows(node.count)
        return [*copy.before(), *self.lines(node.body, place), *copy.after()]

    def _printer(self, node: StatementInstance, point: Point) -> ExpressionPrinter:
        return ExpressionPrinter(scop=self.scop, statement=statement_at(self.scop, node),
                                 iterators=iterators_at(self.scop, node, point), index=self.index,
                                 local_names=self.local_names, temporaries=node.temporaries)

    def _instance(self, node: StatementInstance) -> list[str]:
        printer = self._printer(node, Point(()))
        lines = print_body(printer.statement.body, printer)
        if self.options.trace is not None:
            position = self.scop.statements.index(printer.statement)
            lines.insert(0, instance_call(self.options.trace, position, node.iterators, self.index))
        return lines


def _on_copy(tile: RegisterTile) -> str:
    """What is said of a tile that is computed on a copy."""
    if not tile.within:
        return ""
    return ", on a transposed copy" if is_whole(tile) else ", cut off: computed in full on a copy"


def declares(node: Node, lines: list[str]) -> bool:
    """Whether a node's lines declare something beside which nothing else may stand in the same scope."""
    return isinstance(node, Let | Local | RegisterTile | Packed | OnCopy) and not lines[0].startswith(("if (", "for ("))


def _indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]
