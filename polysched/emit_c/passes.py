"""The way from isl's loops to the loops that are printed, as data: read the two tuples from top to bottom.

`STRUCTURE` decides which loops there are and where temporaries live.  Then bodies are settled
(`pass_context.with_bodies`), and `CODE` decides what becomes registers, vectors and prefetches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from polysched.emit_c.generation.unit_steps import count_by_one
from polysched.emit_c.generation.unskewing import unskew
from polysched.emit_c.generation.whole_steps import end_at_multiples
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import If, Node, Packed, Panel
from polysched.emit_c.loop_ir.names import TakenNames, name_loops
from polysched.emit_c.loop_ir.traversal import loop_names, walk_nodes
from polysched.emit_c.loop_ir.verifier import faults
from polysched.emit_c.nests.array_contraction import contract
from polysched.emit_c.nests.buffer_lanes import follow_buffers
from polysched.emit_c.nests.conditional_pieces import separate_pieces
from polysched.emit_c.nests.dead_code import without_dead_code
from polysched.emit_c.nests.growing_rows import GrowingRows
from polysched.emit_c.nests.independent_rows import IndependentRows
from polysched.emit_c.nests.lagging_rows import LaggingRows
from polysched.emit_c.nests.lane_reductions import LaneReductions, reduce_in_lanes
from polysched.emit_c.nests.neighbour_rows import NeighbourRows
from polysched.emit_c.nests.nontemporal_stores import PastCaches, store_past_caches
from polysched.emit_c.nests.pivot_loops import split_at_pivots
from polysched.emit_c.nests.prefetch_rows import fetch_rows
from polysched.emit_c.nests.recurrent_rows import RecurrentRows
from polysched.emit_c.nests.repeated_iterations import anchor
from polysched.emit_c.nests.scalar_replacement import hold_elements
from polysched.emit_c.nests.strided_loops import unroll_strided
from polysched.emit_c.nests.subscripts_by_case import settle_subscripts
from polysched.emit_c.nests.summed_rows import SummedRows
from polysched.emit_c.nests.thread_reductions import ThreadReductions, reduce_on_threads
from polysched.emit_c.nests.tile_boundaries import with_boundaries
from polysched.emit_c.nests.unroll_and_jam import unroll_and_jam
from polysched.emit_c.nests.vector_loops import Vectorisation, vectorise_loops
from polysched.emit_c.pass_context import PassContext
from polysched.emit_c.register_tiles.packing import TileBlock, panels_for
from polysched.emit_c.register_tiles.register_tiles import Separation, separate_register_tiles
from polysched.emit_c.register_tiles.shared_panels import Sharing, share_panels
from polysched.emit_c.register_tiles.turned_rows import TURNED_WAYS, TurnedRows, turn_rows
from polysched.errors import BrokenLoopsError
from polysched.records import dataclass
from polysched.scheduling.marks import Copy
from polysched.tiling.planning.block_orders import LARGEST_PANEL_BYTES
from polysched.tiling.rewriting.copies import LARGEST_COPY_BYTES


@dataclass(frozen=True)
class Need:
    """What must hold of the context for a pass to run, in words and as a test."""

    words: str
    holds: Callable[[PassContext], bool]


UNTRACED = Need("no trace", lambda context: context.options.trace is None)
THREADS = Need("threads", lambda context: context.options.openmp)
STOPPABLE = Need("code that can be stopped", lambda context: context.options.preemptible)
VECTORS = Need("vectors", lambda context: context.options.trace is None and context.options.vector_bits > 0)


@dataclass(frozen=True)
class LoopPass:
    """One rewrite of the loops.

    Parameters
    ----------
    name : as `polysched passes` and `--print-after` have it.
    summary : what it does, in one line.
    run : the loops before, and the context -> the loops after.
    needs : the pass is skipped where one of these does not hold.
    keeps_names : loops have their names behind the pass, so that the verifier can follow variables.
    """

    name: str
    summary: str
    run: Callable[[Node, PassContext], Node]
    needs: tuple[Need, ...] = ()
    keeps_names: bool = True

    def applies(self, context: PassContext) -> bool:
        """Whether all that the pass needs holds."""
        return all(need.holds(context) for need in self.needs)


def run_passes(loops: Node, passes: tuple[LoopPass, ...], context: PassContext,
               watch: Callable[[LoopPass, Node], None] | None = None) -> Node:
    """The loops after all passes that apply.

    Parameters
    ----------
    watch : told each pass that ran, with the loops behind it.

    Raises
    ------
    BrokenLoopsError : with `EmitOptions.verify_passes`, a pass broke an invariant of the IR.
    """
    for each in passes:
        if each.applies(context):
            loops = each.run(loops, context)
            if context.options.verify_passes and each.keeps_names:
                _verify(each, loops, context)
            if watch is not None:
                watch(each, loops)
    return loops


def _verify(each: LoopPass, loops: Node, context: PassContext) -> None:
    scop = context.scop
    found = faults(loops, depths={s.name: len(s.iterators) for s in scop.statements},
                   parameters=frozenset(p.name for p in scop.parameters))
    if found:
        raise BrokenLoopsError(f"pass {each.name} broke the loop IR", where=scop.name, witness=found[0],
                               hint="this is a fault of polysched; --print-after shows the loops around it")


def _name_loops(loops: Node, context: PassContext) -> Node:
    return name_loops(loops, taken=context.taken, iterators={s.name: s.iterators for s in context.scop.statements})


def _contract(loops: Node, context: PassContext) -> Node:
    return contract(loops, context.dependences, context.guard.context, context.temporary_names(),
                    memory_name=context.memory_name if context.own_memory else None,
                    buffer_bytes=context.options.buffer_bytes,
                    lasting_bytes=context.options.target.kept_bytes(2))


def _reduce_on_threads(loops: Node, context: PassContext) -> Node:
    return reduce_on_threads(loops, context.facts, ThreadReductions(
        dependences=context.dependences, reductions=context.reductions_in_parts(), taken=context.taken,
        least_work=context.options.team_iterations))


def _register_tiles(loops: Node, context: PassContext) -> Node:
    """Register tiles with their panels, those that threads can share in memory of the region's own.

    Code that can be stopped runs on one thread, and memory of its own would keep it from being begun anew.
    """
    facts, printer = context.facts, context.code
    if context.own_memory and not context.options.preemptible:
        tiles = separate_register_tiles(loops, facts, _separation(context, LARGEST_COPY_BYTES))
        shared = share_panels(tiles, facts, Sharing(
            scop=printer.scop, fresh=_fresh_names(context.taken, tiles), size=printer.size_text))
        panels = [n.panel for n in walk_nodes(shared) if isinstance(n, Packed)]
        if all(panel.shared or panel.bytes <= LARGEST_PANEL_BYTES for panel in panels):
            return shared
    return separate_register_tiles(loops, facts, _separation(context, LARGEST_PANEL_BYTES))


def _separation(context: PassContext, most_bytes: int) -> Separation:
    printer = context.code

    def panels(tiles: TileBlock, facts: Facts, copies: tuple[Copy, ...]) -> tuple[Panel, ...]:
        wanted = context.options.packing
        if isinstance(wanted, tuple):
            copies = tuple(copy for copy in copies if copy.array in wanted)
        return panels_for(printer.scop, tiles, facts, printer.taken, copies, target=context.options.target,
                          most_bytes=most_bytes) if wanted else ()

    return Separation(taken=printer.taken, has_form=printer.has_form, panels_for=panels, lanes_of=printer.lanes_of,
                      scatters=printer.scatters, registers=printer.options.registers)


def _fresh_names(taken: TakenNames, loops: Node) -> Callable[[str], str]:
    """Makes names that neither the file nor the region nor an earlier call has."""
    made = set(loop_names(loops)) | {n.panel.name for n in walk_nodes(loops) if isinstance(n, Packed)}

    def fresh(wish: str) -> str:
        name = taken.fresh(f"{wish}s", frozenset(made))
        made.add(name)
        return name
    return fresh


def _neighbouring_rows(loops: Node, context: PassContext) -> Node:
    return unroll_and_jam(loops, context.facts, NeighbourRows(
        dependences=context.dependences, taken=context.taken))


def _vectorisation(context: PassContext) -> Vectorisation:
    printer = context.code
    return Vectorisation(taken=printer.taken, width=printer.vector_width, calls=printer.has_vector_calls,
                         beyond=printer.reads_beyond, anchor=partial(anchor, printer.scop, printer.local_names),
                         twice=printer.may_run_twice)


def _summed_rows(loops: Node, context: PassContext) -> Node:
    return unroll_and_jam(loops, context.facts, SummedRows(
        dependences=context.dependences, taken=context.taken, promotes=context.code.promotes,
        vectors=_vectorisation(context)))


def _vectorise(loops: Node, context: PassContext) -> Node:
    return vectorise_loops(loops, context.facts, _vectorisation(context))


def _reduce_in_lanes(loops: Node, context: PassContext) -> Node:
    return reduce_in_lanes(loops, context.facts, LaneReductions(
        dependences=context.dependences, reductions=context.reductions_in_lanes(), width=context.code.reduction_width,
        vectors=context.options.target.ports.fma_latency_cycles))


def _addends_in_lanes(loops: Node, context: PassContext) -> Node:
    return reduce_in_lanes(loops, context.facts, LaneReductions(
        dependences=context.dependences, reductions=context.sums_in_order(), width=context.code.addend_width,
        vectors=1, in_order=True))


def _lagging_rows(loops: Node, context: PassContext) -> Node:
    return unroll_and_jam(loops, context.facts, LaggingRows(
        dependences=context.dependences, taken=context.taken, promotes=context.code.promotes))


def _growing_rows(loops: Node, context: PassContext) -> Node:
    return unroll_and_jam(loops, context.facts, GrowingRows(
        dependences=context.dependences, taken=context.taken, promotes=context.code.promotes,
        in_lanes=context.code.rows_in_lanes, count=context.options.rows_in_flight))


def _recurrent_rows(loops: Node, context: PassContext) -> Node:
    return unroll_and_jam(loops, context.facts, RecurrentRows(
        dependences=context.dependences, taken=context.taken, has_form=context.code.has_form,
        promotes=context.code.promotes))


def _independent_rows(loops: Node, context: PassContext) -> Node:
    return unroll_and_jam(loops, context.facts, IndependentRows(
        promotes=context.code.promotes, gains=context.code.rows_gain, in_lanes=context.code.rows_in_lanes,
        count=context.options.rows_in_flight))


def _parameter_guard(loops: Node, context: PassContext) -> Node:
    return loops if context.guard.condition is None else If(context.guard.condition, loops)


def _tile_boundaries(loops: Node, context: PassContext) -> Node:
    printer, made = context.code, set(loop_names(loops))

    def fresh(wish: str) -> str:
        name = printer.taken.fresh(wish, frozenset(made))
        made.add(name)
        return name

    return with_boundaries(loops, whole=bool(context.kept_arrays(loops)), fresh=fresh,
                           leaves=lambda loop: printer.exit_test(loop) is not None)


STRUCTURE: tuple[LoopPass, ...] = (
    LoopPass("conditional_pieces", "Independent iterations with conditions get a loop for each condition.",
             lambda loops, context: separate_pieces(loops, context.facts, context.dependences), (UNTRACED,),
             keeps_names=False),
    LoopPass("whole_steps", "Loops end at the last whole step, where a condition said so.",
             lambda loops, context: end_at_multiples(loops, context.facts), keeps_names=False),
    LoopPass("unskew", "Loops over sums of iterators become loops over one, where bounds allow it.",
             lambda loops, _: unskew(loops), keeps_names=False),
    LoopPass("unit_steps", "Loops with a stride count by one.", lambda loops, _: count_by_one(loops),
             keeps_names=False),
    LoopPass("subscripts_by_case", "Loops are cut where a case of subscripts ends, as where they go round.",
             lambda loops, context: settle_subscripts(loops, context.facts, context.scop), keeps_names=False),
    LoopPass("name_loops", "Loop variables get the source's names.", _name_loops),
    LoopPass("split_at_pivots", "A loop is cut where one iteration, the pivot's, is unlike the others.",
             lambda loops, context: split_at_pivots(
                 loops, context.facts, context.dependences, least_work=context.options.team_iterations)),
    LoopPass("array_contraction", "Temporary arrays become variables or small buffers.", _contract, (UNTRACED,)),
    LoopPass("buffer_lanes", "Loops that fill a buffer follow its order in memory.",
             lambda loops, context: follow_buffers(loops, context.facts, context.dependences), (VECTORS, UNTRACED)),
    LoopPass("thread_reductions", "Reductions run in parts on threads, combined in order.", _reduce_on_threads,
             (THREADS,)),
)
"""Passes that run before bodies are settled: which loops there are, where temporaries live."""

CODE: tuple[LoopPass, ...] = (
    LoopPass("register_tiles", "Full register tiles are separated from partial ones and get packed operands.",
             _register_tiles, (VECTORS,)),
    LoopPass("neighbouring_rows", "Unroll-and-jam of rows that read the same rows as their neighbours.",
             _neighbouring_rows, (VECTORS,)),
    LoopPass("summed_rows", "Unroll-and-jam of rows that are added to one row.", _summed_rows, (VECTORS,)),
    LoopPass("vectorise", "Innermost loops with independent iterations become vectors.", _vectorise, (VECTORS,)),
    LoopPass("lane_reductions", "Innermost reductions get partial results in lanes.", _reduce_in_lanes, (VECTORS,)),
    LoopPass("addends_in_lanes", "Vectors compute what a sum in order adds up.", _addends_in_lanes, (VECTORS,)),
    LoopPass("lagging_rows", "Skewed unroll-and-jam: each row runs behind the one before.", _lagging_rows, (UNTRACED,)),
    LoopPass("growing_rows", "Unroll-and-jam of sums whose lengths grow from row to row.", _growing_rows, (UNTRACED,)),
    LoopPass("recurrent_rows", "Unroll-and-jam of recurrences along rows.", _recurrent_rows, (UNTRACED,)),
    LoopPass("scalar_replacement", "Elements that a loop updates again and again stay in registers.",
             lambda loops, context: hold_elements(loops, context.facts, context.code.promotes), (UNTRACED,)),
    LoopPass("independent_rows", "Unroll-and-jam of independent rows.", _independent_rows, (UNTRACED,)),
    LoopPass("dead_code", "Loops and branches that never run are removed.",
             lambda loops, context: without_dead_code(loops, context.facts), (UNTRACED,)),
    LoopPass("nontemporal_stores", "Arrays larger than the last cache are stored past it.",
             lambda loops, context: store_past_caches(loops, PastCaches(
                 context.code.scop, context.options.last_cache_bytes)), (VECTORS,)),
    LoopPass("prefetch_rows", "Rows that vectors will read are fetched ahead.",
             lambda loops, context: fetch_rows(loops, context.code.scop, target=context.options.target, whole_lines=(
                 context.options.vector_bits >= 8 * context.options.line_bytes)), (VECTORS,)),
    LoopPass("turned_rows", "Rows across memory are computed on a transposed copy.",
             lambda loops, context: turn_rows(loops, TurnedRows(
                 scop=context.code.scop, lanes_of=context.code.lanes_of,
                 most_bytes=TURNED_WAYS * context.options.target.way_bytes)), (VECTORS,)),
    LoopPass("strided_loops", "Short loops over elements apart are unrolled by the compiler.",
             lambda loops, context: unroll_strided(loops, context.code.scop, simd=context.options.simd), (UNTRACED,)),
    LoopPass("tile_boundaries", "Code that can be stopped is cut into tiles.", _tile_boundaries, (STOPPABLE,)),
    LoopPass("parameter_guard", "A test of parameters stands around loops that rely on it.", _parameter_guard),
)
"""Passes that run once bodies are settled: registers, vectors, prefetches."""


def all_passes() -> Iterator[LoopPass]:
    """Every pass, in the order in which they run."""
    yield from (*STRUCTURE, *CODE)
