"""TiledSchedule -> CSource."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from polysched.dependence.dependences import Dependences
from polysched.dependence.reductions import Reduction, find_reductions
from polysched.emit_c.bodies.array_bounds import accumulators_exist
from polysched.emit_c.bodies.linear_combinations import collected
from polysched.emit_c.bodies.row_subscripts import with_row_subscripts
from polysched.emit_c.bodies.wrapping_sums import turned_by, with_wrapping_sums
from polysched.emit_c.c_source import CSource, EmitOptions, options_for
from polysched.emit_c.generation.loop_generation import generate_loops
from polysched.emit_c.generation.parameter_guard import ParameterGuard, parameter_guard
from polysched.emit_c.generation.unit_steps import count_by_one
from polysched.emit_c.generation.unskewing import unskew
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import If, Node, Packed, Panel, ThreadReduction, instances, loop_names, walk_nodes
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of, local_array_names, name_loops, taken_names
from polysched.emit_c.nests.contraction import contract, contracted, with_own_values
from polysched.emit_c.nests.dead_code import without_dead_code
from polysched.emit_c.nests.fetched_rows import fetch_rows
from polysched.emit_c.nests.growing_rows import GrowingRows, sums_in_step
from polysched.emit_c.nests.held_elements import hold_elements
from polysched.emit_c.nests.lagging_rows import LaggingRows, rows_behind_each_other
from polysched.emit_c.nests.lane_reductions import LaneReductions, reduce_in_lanes
from polysched.emit_c.nests.neighbour_rows import NeighbourRows, neighbours_in_step
from polysched.emit_c.nests.past_caches import PastCaches, store_past_caches
from polysched.emit_c.nests.pivot_loops import split_at_pivots
from polysched.emit_c.nests.recurrent_rows import RecurrentRows, recurrences_in_step
from polysched.emit_c.nests.repeated_iterations import anchor
from polysched.emit_c.nests.row_jam import Rows, jam_rows
from polysched.emit_c.nests.summed_rows import SummedRows, sum_rows
from polysched.emit_c.nests.thread_reductions import PLACES, ThreadReductions, reduce_on_threads
from polysched.emit_c.nests.vector_loops import Vectorisation, vectorise_loops
from polysched.emit_c.region import Place, RegionPrinter, declares
from polysched.emit_c.register_tiles.packing import LARGEST_PANEL_BYTES, TileBlock, panels_for
from polysched.emit_c.register_tiles.register_tiles import Separation, separate_register_tiles
from polysched.emit_c.register_tiles.shared_panels import Sharing, memory_of, share_panels, shared_panels
from polysched.emit_c.register_tiles.turned_rows import TurnedRows, turn_rows
from polysched.emit_c.scalar_code.band_comments import band_comments
from polysched.emit_c.scalar_code.heap import (
    Memory,
    fits_stack,
    is_expanded,
    local_declarations,
    parts_of_threads,
    whole_array,
    with_memory,
)
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter, parameter_ranges, parameter_spellings
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.partial_results import OPERATORS
from polysched.emit_c.vector_math import VectorMath
from polysched.scheduling.marks import Copy
from polysched.scop.scop import Array, Scop
from polysched.tiling.rewriting.copies import LARGEST_COPY_BYTES
from polysched.tiling.tiled_schedule import TiledSchedule


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The loops of a tiled schedule before anything is done to them.

    Parameters
    ----------
    loops : as isl's generator gives them.
    fallbacks : what had to be given up for them.
    """

    loops: Node
    fallbacks: tuple[str, ...] = ()


def scan(tiled: TiledSchedule, *, max_operations: int = EmitOptions.max_operations) -> Scan:
    """Generate the loops, which every way of printing the schedule can share.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `max_operations`.
    """
    loops, fallbacks = generate_loops(tiled, context=_guard(tiled).without_type_limits, max_operations=max_operations)
    return Scan(loops=loops, fallbacks=fallbacks)


def _guard(tiled: TiledSchedule) -> ParameterGuard:
    return parameter_guard(tiled.schedule.scop, wanted=any(band.sizes for band in tiled.bands))


def emit(tiled: TiledSchedule, *, options: EmitOptions | None = None, scanned: Scan | None = None) -> CSource:
    """Generate the C text that computes the region in the order of the schedule.

    The text uses only names that are visible at the region and declares what it adds itself; helper macros are
    defined in front of it and undefined behind it.

    Parameters
    ----------
    options : those of `options_for` unless given: vectors of the machine that the tiles were made for.
    scanned : what `scan` gave for this schedule, to print it in several ways.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `options.max_operations`.
    """
    from_file = tiled.schedule.scop.source is not None
    region = emit_with_storage(tiled, options=options or options_for(tiled), scanned=scanned, own_memory=from_file,
                               on_heap=lambda array: from_file and is_expanded(array) and not fits_stack(array))
    if not region.memories:
        return region.source
    lines = with_memory(region.source.scop, region.source.text.splitlines(), region.memories)
    return replace(region.source, text="".join(f"{line}\n" for line in lines))


@dataclass(frozen=True, eq=False, kw_only=True)
class Region:
    """A region whose text leaves some arrays undeclared.

    Parameters
    ----------
    source : the region.
    memories : what it needs from the heap.
    """

    source: CSource
    memories: tuple[Memory, ...]


def emit_with_storage(tiled: TiledSchedule, *, options: EmitOptions, on_heap: Callable[[Array], bool],
                      own_memory: bool = True, scanned: Scan | None = None) -> Region:
    """The region, with those temporary arrays declared inside that are not to be `on_heap`.

    Parameters
    ----------
    own_memory : the region may ask for memory of its own: buffers of unknown size with a part per thread, and
        panels that threads share.
    """
    scop = tiled.schedule.scop
    guard = _guard(tiled)
    scanned = scanned or scan(tiled, max_operations=options.max_operations)
    taken = taken_names(scop, reserved=() if options.trace is None else (options.trace,))
    loops = name_loops(count_by_one(unskew(scanned.loops)), taken=taken,
                       iterators={s.name: s.iterators for s in scop.statements})
    facts = Facts(context=guard.context)
    loops = split_at_pivots(loops, facts, tiled.schedule.dependences)
    local_names = local_array_names(scop, taken)
    if options.trace is None:
        around = with_own_values(tiled.schedule.dependences) if own_memory else ()
        local_names |= local_array_names(scop, taken, also=around)
        loops = contract(loops, tiled.schedule.dependences, guard.context, local_names, memory_name=(
            lambda array: taken.fresh(f"{identifier_of(array)}_parts")) if own_memory else None)
        for array in set(around) - set(contracted(loops)):
            del local_names[array]
    if options.openmp:
        loops = reduce_on_threads(loops, facts, ThreadReductions(
            dependences=tiled.schedule.dependences, reductions=_reductions_in_parts(scop, options), taken=taken))
    placed = contracted(loops)
    local_names |= {a.name: taken.fresh(f"{identifier_of(a.name)}_copies") for a in scop.arrays
                    if a.name in local_names and a.name not in placed and is_expanded(a)}
    macros = HelperMacros(taken)
    index = IndexPrinter(parameters=parameter_ranges(scop, guard.context), spellings=parameter_spellings(scop),
                         macros=macros)
    types = VectorTypes(taken)
    math = VectorMath(taken, types, options.vector_bits) if options.vector_bits and options.math == "vector" else None
    if options.reassociate and options.trace is None:
        scop = collected(scop, but={r.statement for r in find_reductions(scop)})
    scop, wrapping = map(with_row_subscripts, _without_overflow(scop, tiled, loops))
    printer = RegionPrinter(scop=scop, index=index, local_names=local_names, options=options,
                            comments=band_comments(tiled), types=types, taken=taken,
                            loop_names=loop_names(loops), math=math, wrapping=wrapping)
    if options.trace is None:
        if options.vector_bits:
            loops = _with_register_tiles(loops, facts, printer, own_memory=own_memory)
            loops = _in_vectors(loops, facts, printer, tiled.schedule.dependences)
        loops = _in_step(loops, facts, printer, tiled.schedule.dependences)
        if options.vector_bits:
            loops = store_past_caches(loops, PastCaches(scop, options.last_cache_bytes))
            loops = fetch_rows(loops, scop, options.vector_bits)
            loops = turn_rows(loops, TurnedRows(scop=scop, lanes_of=printer.lanes_of))
    if guard.condition is not None:
        loops = If(guard.condition, loops)
    body = printer.lines(loops, Place((), facts))
    whole = {array: name for array, name in local_names.items() if array not in placed}
    heap = {array: name for array, name in whole.items() if on_heap(scop.array(array))}
    inside = {array: name for array, name in whole.items() if array not in heap}
    declarations = [*printer.types.declarations.values(), *local_declarations(scop, inside)]
    if declarations or declares(loops, body):
        body = ["{", *(INDENT + line for line in (*declarations, *body)), "}"]
    helpers = (macros,) if math is None else (macros, math)
    lines = [*(line for h in helpers for line in h.definitions()), *body,
             *(line for h in helpers for line in h.undefinitions())]
    source = CSource(tiled=tiled, text="".join(f"{line}\n" for line in lines), loops=loops,
                     fallbacks=scanned.fallbacks, allocated=tuple(heap), tested_teams=tuple(printer.tested_teams))
    memories = [whole_array(scop, array, name) for array, name in heap.items()]
    memories += [parts_of_threads(scop, t) for t in placed.values() if t.memory]
    memories += map(memory_of, shared_panels(loops))
    return Region(source=source, memories=tuple(memories))


def _fresh_names(taken: TakenNames, loops: Node) -> Callable[[str], str]:
    """Makes names that neither the file nor the region nor an earlier call has."""
    made = set(loop_names(loops)) | {n.panel.name for n in walk_nodes(loops) if isinstance(n, Packed)}

    def fresh(wish: str) -> str:
        name = taken.fresh(f"{wish}s", frozenset(made))
        made.add(name)
        return name
    return fresh


def _without_overflow(scop: Scop, tiled: TiledSchedule, loops: Node) -> tuple[Scop, Scop]:
    """The bodies whose sums the schedule or threads have turned, wrapping around; and those of tiles that turn any."""
    updates = find_reductions(scop)
    turned = with_wrapping_sums(scop, (*turned_by(tiled, updates), *_in_parts(updates, loops, scop)))
    return turned, with_wrapping_sums(turned, updates)


def _in_parts(reductions: Sequence[Reduction], loops: Node, scop: Scop) -> list[Reduction]:
    """Those whose updates threads run in parts."""
    own = {(instance.statement, part.temporary.array) for node in walk_nodes(loops)
           if isinstance(node, ThreadReduction) for part in node.parts for instance in instances(node.loop)}
    return [r for r in reductions if any(
        (r.statement, scop.statement(r.statement).access(part.write).array) in own for part in r.accumulators)]


def _free_reductions(scop: Scop, options: EmitOptions) -> dict[str, Reduction]:
    """The reductions whose updates may come in any order."""
    return {r.statement: r for r in find_reductions(scop)
            if r.operator in OPERATORS and (r.exact or options.reassociate) and accumulators_exist(scop, r)}


def _reductions_in_parts(scop: Scop, options: EmitOptions) -> dict[str, Reduction]:
    """The reductions that ranges of iterations can compute apart, to be combined in order."""
    places = {r.statement: r for r in find_reductions(scop) if r.operator in PLACES}
    return _free_reductions(scop, options) | places


def _with_register_tiles(loops: Node, facts: Facts, printer: RegionPrinter, *, own_memory: bool) -> Node:
    """Register tiles with their panels, those that threads can share in memory of the region's own."""
    if own_memory:
        tiles = separate_register_tiles(loops, facts, _separation(printer, LARGEST_COPY_BYTES))
        fresh = _fresh_names(printer.taken, tiles)
        shared = share_panels(tiles, facts, Sharing(scop=printer.scop, fresh=fresh, size=printer.size_text))
        panels = [n.panel for n in walk_nodes(shared) if isinstance(n, Packed)]
        if all(panel.shared or panel.bytes <= LARGEST_PANEL_BYTES for panel in panels):
            return shared
    return separate_register_tiles(loops, facts, _separation(printer, LARGEST_PANEL_BYTES))


def _in_vectors(loops: Node, facts: Facts, printer: RegionPrinter, dependences: Dependences) -> Node:
    """What is no register tile, in vectors where it has such a form, reductions too."""
    loops = neighbours_in_step(loops, facts, NeighbourRows(dependences=dependences, taken=printer.taken))
    vectors = Vectorisation(
        taken=printer.taken, width=printer.vector_width, calls=printer.has_vector_calls,
        beyond=printer.reads_beyond, anchor=partial(anchor, printer.scop, printer.local_names))
    loops = sum_rows(loops, facts, SummedRows(
        dependences=dependences, taken=printer.taken, promotes=printer.promotes, vectors=vectors))
    loops = vectorise_loops(loops, facts, vectors)
    return reduce_in_lanes(loops, facts, LaneReductions(
        dependences=dependences, reductions=_free_reductions(printer.scop, printer.options),
        width=printer.reduction_width))


def _in_step(loops: Node, facts: Facts, printer: RegionPrinter, dependences: Dependences) -> Node:
    """What stayed plain loops: elements in variables, rows side by side; and nothing that never runs."""
    loops = rows_behind_each_other(loops, facts, LaggingRows(
        dependences=dependences, taken=printer.taken, promotes=printer.promotes))
    loops = sums_in_step(loops, facts, GrowingRows(
        dependences=dependences, taken=printer.taken, promotes=printer.promotes, in_lanes=printer.rows_in_lanes))
    loops = recurrences_in_step(loops, facts, RecurrentRows(
        dependences=dependences, taken=printer.taken, has_form=printer.has_form, promotes=printer.promotes))
    loops = jam_rows(hold_elements(loops, facts, printer.promotes), facts,
                     Rows(promotes=printer.promotes, in_lanes=printer.rows_in_lanes))
    return without_dead_code(loops, facts)


def _separation(printer: RegionPrinter, most_bytes: int) -> Separation:
    def panels(tiles: TileBlock, facts: Facts, copies: tuple[Copy, ...]) -> tuple[Panel, ...]:
        wanted = printer.options.packing
        if isinstance(wanted, tuple):
            copies = tuple(copy for copy in copies if copy.array in wanted)
        return panels_for(printer.scop, tiles, facts, printer.taken, copies, most_bytes=most_bytes) if wanted else ()

    return Separation(taken=printer.taken, has_form=printer.has_form, panels_for=panels, lanes_of=printer.lanes_of,
                      scatters=printer.scatters)
