"""TiledSchedule -> the loops as they will be printed: every choice is made here, and there is no text yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from polysched.emit_c.c_source import EmitOptions, options_for
from polysched.emit_c.generation.loop_generation import generate_loops
from polysched.emit_c.loop_ir.loops import Node, Temporary
from polysched.emit_c.loop_ir.traversal import statements_in_blocks
from polysched.emit_c.nests.array_contraction import contracted
from polysched.emit_c.pass_context import PassContext, pass_context, region_guard, with_bodies
from polysched.emit_c.passes import CODE, STRUCTURE, LoopPass, run_passes
from polysched.emit_c.scalar_code.heap import fits_stack, is_expanded
from polysched.records import dataclass
from polysched.scop.scop import Array, Scop
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
    NoLoopsError : isl's generator loses or misplaces instances of the schedule.
    """
    loops, fallbacks = generate_loops(tiled, context=region_guard(tiled).without_type_limits,
                                      max_operations=max_operations)
    return Scan(loops=loops, fallbacks=fallbacks)


@dataclass(frozen=True, eq=False, kw_only=True)
class Lowered:
    """A region as it will be printed, before it is text.

    Parameters
    ----------
    tiled : the schedule that the loops follow; holds everything before it.
    loops : behind all passes.
    context : what the passes knew, with the bodies and how they print.
    placed : what stands in the place of arrays that became variables or buffers.
    names : C names of the arrays that the region declares.
    heap : those of them that get memory from the heap.
    fallbacks : what had to be given up, one sentence each.
    """

    tiled: TiledSchedule
    loops: Node
    context: PassContext
    placed: Mapping[str, Temporary]
    names: Mapping[str, str]
    heap: Mapping[str, str]
    fallbacks: tuple[str, ...] = ()

    @property
    def scop(self) -> Scop:
        return self.tiled.schedule.scop

    @property
    def allocated(self) -> tuple[str, ...]:
        """Temporary arrays that get memory from the heap, because their values have no place in the loops."""
        return tuple(self.heap)

    @property
    def declared(self) -> dict[str, str]:
        """C names of the arrays that the region declares whole."""
        return {array: name for array, name in self.names.items()
                if array not in self.placed and array not in self.heap}

    @property
    def blocks_without_code(self) -> frozenset[str]:
        """The statements with a register block in the schedule and none in the loops.

        A block is a plan for vector registers.  Where its statement has no vector code, as with a call that has no
        vector form or a type that no lane holds, what is left of it is an order of loops that nobody would choose.
        """
        planned = {band.plan.shape.statement for band in self.tiled.bands
                   if band.plan is not None and band.plan.shape is not None and band.register}
        return frozenset(planned - statements_in_blocks(self.loops)) if planned else frozenset()


def lower(tiled: TiledSchedule, *, options: EmitOptions | None = None, scanned: Scan | None = None,
          also: tuple[LoopPass, ...] = ()) -> Lowered:
    """The loops of a region of a file, which asks for the memory that it needs; or of a whole function.

    Parameters
    ----------
    options : those of `options_for` unless given: vectors of the machine that the tiles were made for.
    scanned : what `scan` gave for this schedule.
    also : passes of the caller's own, which run behind all others (`passes.CODE`).

    Raises
    ------
    BudgetExceededError, NoLoopsError : as for `scan`.
    """
    from_file = tiled.schedule.scop.source is not None
    return lower_with_storage(tiled, options=options or options_for(tiled), scanned=scanned, also=also,
                              own_memory=from_file,
                              on_heap=lambda array: from_file and is_expanded(array) and not fits_stack(array))


def lower_with_storage(tiled: TiledSchedule, *, options: EmitOptions, on_heap: Callable[[Array], bool],
                       own_memory: bool = True, scanned: Scan | None = None,
                       also: tuple[LoopPass, ...] = ()) -> Lowered:
    """As `lower`, with those temporary arrays declared inside that are not to be `on_heap`.

    Parameters
    ----------
    own_memory : the region may ask for memory of its own: buffers of unknown size with a part per thread, and
        panels that threads share.
    """
    if options.preemptible:
        options = replace(options, openmp=False, last_cache_bytes=0)
    scanned = scanned or scan(tiled, max_operations=options.max_operations)
    context = pass_context(tiled, options, own_memory=own_memory)
    loops = run_passes(scanned.loops, STRUCTURE, context)
    placed = contracted(loops)
    context = with_bodies(context, loops)
    loops = run_passes(loops, (*CODE, *also), context)
    printer, scop = context.code, context.code.scop
    whole = {array: name for array, name in printer.local_names.items() if array not in placed}
    return Lowered(tiled=tiled, loops=loops, context=context, placed=placed, names=printer.local_names,
                   heap={array: name for array, name in whole.items() if on_heap(scop.array(array))},
                   fallbacks=(*scanned.fallbacks, *_not_stopped(context, loops)))


def _not_stopped(context: PassContext, loops: Node) -> tuple[str, ...]:
    """Why a region that shall be stopped is one tile as a whole."""
    kept = context.kept_arrays(loops) if context.options.preemptible else ()
    return (f"the region is stopped nowhere: {kept[0]} is lost when the function returns",) if kept else ()
