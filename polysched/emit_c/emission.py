"""Lowered -> CSource: the lines of a region, its helpers, its declarations and its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.lowering import Lowered, Scan, lower
from polysched.emit_c.passes import LoopPass
from polysched.emit_c.region import Place, declares
from polysched.emit_c.register_tiles.shared_panels import memory_of, shared_panels, stack_declaration
from polysched.emit_c.scalar_code.heap import (
    FEW_BYTES,
    Memory,
    constant_elements,
    local_declarations,
    parts_of_threads,
    whole_array,
    with_memory,
)
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.preemption import PREAMBLE
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_c.vector_math import VectorMath
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.tiling.tiled_schedule import TiledSchedule


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
    BudgetExceededError, NoLoopsError : as for `scan`; `pipeline.way` tries lesser schedules then.
    """
    return printed(lower(tiled, options=options, scanned=scanned, also=also))


def printed(lowered: Lowered) -> CSource:
    """The C text of a region, with the memory that it asks for."""
    region = printed_region(lowered)
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


def printed_region(lowered: Lowered) -> Region:
    """The region, with those temporary arrays declared inside that get no memory from the heap."""
    printer, loops = lowered.context.code, lowered.loops
    scop = printer.scop
    body = printer.lines(loops, Place((), lowered.context.facts))
    declarations = [*printer.types.declarations.values(), *local_declarations(scop, lowered.declared),
                    *filter(None, map(stack_declaration, shared_panels(loops)))]
    if declarations or declares(loops, body):
        body = ["{", *(INDENT + line for line in (*declarations, *body)), "}"]
    if printer.stops is not None:
        body = printer.stops.around(body)
    helpers: tuple[HelperMacros | VectorMath, ...] = (
        printer.index.macros, *(() if printer.math is None else (printer.math,)))
    lines = [*(line for h in helpers for line in h.definitions()), *body,
             *(line for h in helpers for line in h.undefinitions())]
    source = CSource(tiled=lowered.tiled, text="".join(f"{line}\n" for line in lines), loops=loops,
                     fallbacks=lowered.fallbacks, allocated=lowered.allocated,
                     teams=sum(line.lstrip().startswith("#pragma omp parallel") for line in lines),
                     tested_teams=tuple(printer.tested_teams), preamble=PREAMBLE if printer.stops else "",
                     approximated=() if printer.math is None else printer.math.approximated)
    return Region(source=source, memories=tuple(_memories(scop, lowered)))


def _memories(scop: Scop, lowered: Lowered) -> Iterator[Memory]:
    """What a region needs from the heap."""
    fresh, line_bytes = lowered.context.taken.fresh, lowered.context.options.line_bytes
    yield from (whole_array(scop, array, name, few=_few(scop, array, name, fresh))
                for array, name in lowered.heap.items())
    yield from (parts_of_threads(scop, t, line_bytes=line_bytes, few=fresh(f"{t.memory}_few"))
                for t in lowered.placed.values() if t.memory)
    for panel in shared_panels(lowered.loops):
        if not stack_declaration(panel):
            may_be_few = panel.outer and panel.bytes <= FEW_BYTES
            yield memory_of(panel, fresh(f"{panel.name}_few") if may_be_few else "")


def _few(scop: Scop, array: str, name: str, fresh: Callable[[str], str]) -> str:
    """The name of an array on the stack that a call with few elements uses; empty where there are always many."""
    elements = constant_elements(scop.array(array))
    return fresh(f"{name}_few") if elements is None else ""
