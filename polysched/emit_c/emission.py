"""TiledSchedule -> CSource."""

from __future__ import annotations

from dataclasses import dataclass

from polysched.emit_c.band_comments import band_comments
from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.expressions import local_declarations
from polysched.emit_c.facts import Facts
from polysched.emit_c.held_elements import hold_elements
from polysched.emit_c.helper_macros import HelperMacros
from polysched.emit_c.index_printer import IndexPrinter, parameter_ranges, parameter_spellings
from polysched.emit_c.loop_generation import generate_loops
from polysched.emit_c.loops import If, Node, Panel, loop_names
from polysched.emit_c.names import local_array_names, name_loops, taken_names
from polysched.emit_c.packing import TileBlock, panels_for
from polysched.emit_c.parameter_guard import ParameterGuard, parameter_guard
from polysched.emit_c.region import Place, RegionPrinter
from polysched.emit_c.register_tiles import Separation, separate_register_tiles
from polysched.emit_c.statements import INDENT
from polysched.emit_c.unskewing import unskew
from polysched.emit_c.vector_loops import Vectorisation, vectorise_loops
from polysched.emit_c.vector_types import VectorTypes
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
    scanned : what `scan` gave for this schedule, to print it in several ways.

    Raises
    ------
    BudgetExceededError : isl's loop generation does not fit into `options.max_operations`.
    """
    return emit_with_storage(tiled, options=options or EmitOptions(), elsewhere=frozenset(), scanned=scanned)[0]


def emit_with_storage(tiled: TiledSchedule, *, options: EmitOptions, elsewhere: frozenset[str],
                      scanned: Scan | None = None) -> tuple[CSource, dict[str, str]]:
    """The region, and the C names of its local arrays; those named in `elsewhere` are not declared in it."""
    scop = tiled.schedule.scop
    guard = _guard(tiled)
    scanned = scanned or scan(tiled, max_operations=options.max_operations)
    taken = taken_names(scop, reserved=() if options.trace is None else (options.trace,))
    loops = name_loops(unskew(scanned.loops), taken=taken,
                       iterators={s.name: s.iterators for s in scop.statements})
    facts = Facts(context=guard.context)
    local_names = local_array_names(scop, taken)
    macros = HelperMacros(taken)
    index = IndexPrinter(parameters=parameter_ranges(scop, guard.context), spellings=parameter_spellings(scop),
                         macros=macros)
    printer = RegionPrinter(scop=scop, index=index, local_names=local_names, options=options,
                            comments=band_comments(tiled), types=VectorTypes(taken), taken=taken,
                            loop_names=loop_names(loops))
    if options.vector_bits and options.trace is None:
        loops = separate_register_tiles(loops, facts, _separation(printer))
    if options.vector_bits and options.trace is None:
        loops = vectorise_loops(loops, facts, Vectorisation(taken=taken, width=printer.vector_width))
    if options.trace is None:
        loops = hold_elements(loops, facts, printer.promotes)
    if guard.condition is not None:
        loops = If(guard.condition, loops)
    body = printer.lines(loops, Place((), facts))
    local_declared = {array: name for array, name in local_names.items() if array not in elsewhere}
    if declarations := [*printer.types.declarations.values(), *local_declarations(scop, local_declared)]:
        body = ["{", *(INDENT + line for line in (*declarations, *body)), "}"]
    lines = [*macros.definitions(), *body, *macros.undefinitions()]
    source = CSource(tiled=tiled, text="".join(f"{line}\n" for line in lines), loops=loops,
                     fallbacks=scanned.fallbacks)
    return source, local_names


def _separation(printer: RegionPrinter) -> Separation:
    def panels(tiles: TileBlock, facts: Facts) -> tuple[Panel, ...]:
        return panels_for(printer.scop, tiles, facts, printer.taken) if printer.options.packing else ()

    return Separation(taken=printer.taken, has_form=printer.has_form, panels_for=panels)
