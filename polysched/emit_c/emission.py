"""TiledSchedule -> CSource."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from polysched.emit_c.c_source import CSource, EmitOptions, options_for
from polysched.emit_c.generation.loop_generation import generate_loops
from polysched.emit_c.loop_ir.loops import Node
from polysched.emit_c.nests.contraction import contracted
from polysched.emit_c.pass_context import pass_context, region_guard, with_bodies
from polysched.emit_c.passes import CODE, STRUCTURE, LoopPass, run_passes
from polysched.emit_c.region import Place, declares
from polysched.emit_c.register_tiles.shared_panels import memory_of, shared_panels
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
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_c.vector_math import VectorMath
from polysched.scop.scop import Array
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
    loops, fallbacks = generate_loops(tiled, context=region_guard(tiled).without_type_limits,
                                      max_operations=max_operations)
    return Scan(loops=loops, fallbacks=fallbacks)


def emit(tiled: TiledSchedule, *, options: EmitOptions | None = None, scanned: Scan | None = None,
         also: tuple[LoopPass, ...] = ()) -> CSource:
    """Generate the C text that computes the region in the order of the schedule.

    The text uses only names that are visible at the region and declares what it adds itself; helper macros are
    defined in front of it and undefined behind it.

    Parameters
    ----------
    options : those of `options_for` unless given: vectors of the machine that the tiles were made for.
    scanned : what `scan` gave for this schedule, to print it in several ways.
    also : passes of the caller's own, which run behind all others (`passes.CODE`).

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `options.max_operations`.
    """
    from_file = tiled.schedule.scop.source is not None
    region = emit_with_storage(tiled, options=options or options_for(tiled), scanned=scanned, also=also,
                               own_memory=from_file,
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
                      own_memory: bool = True, scanned: Scan | None = None, also: tuple[LoopPass, ...] = ()) -> Region:
    """The region, with those temporary arrays declared inside that are not to be `on_heap`.

    Parameters
    ----------
    own_memory : the region may ask for memory of its own: buffers of unknown size with a part per thread, and
        panels that threads share.
    also : passes that run behind all others.
    """
    scanned = scanned or scan(tiled, max_operations=options.max_operations)
    context = pass_context(tiled, options, own_memory=own_memory)
    loops = run_passes(scanned.loops, STRUCTURE, context)
    placed = contracted(loops)
    context = with_bodies(context, loops)
    loops = run_passes(loops, (*CODE, *also), context)
    printer, scop = context.code, context.code.scop
    body = printer.lines(loops, Place((), context.facts))
    whole = {array: name for array, name in printer.local_names.items() if array not in placed}
    heap = {array: name for array, name in whole.items() if on_heap(scop.array(array))}
    inside = {array: name for array, name in whole.items() if array not in heap}
    declarations = [*printer.types.declarations.values(), *local_declarations(scop, inside)]
    if declarations or declares(loops, body):
        body = ["{", *(INDENT + line for line in (*declarations, *body)), "}"]
    helpers: tuple[HelperMacros | VectorMath, ...] = (
        printer.index.macros, *(() if printer.math is None else (printer.math,)))
    lines = [*(line for h in helpers for line in h.definitions()), *body,
             *(line for h in helpers for line in h.undefinitions())]
    source = CSource(tiled=tiled, text="".join(f"{line}\n" for line in lines), loops=loops,
                     fallbacks=scanned.fallbacks, allocated=tuple(heap), tested_teams=tuple(printer.tested_teams))
    memories = [whole_array(scop, array, name) for array, name in heap.items()]
    memories += [parts_of_threads(scop, t) for t in placed.values() if t.memory]
    memories += map(memory_of, shared_panels(loops))
    return Region(source=source, memories=tuple(memories))
