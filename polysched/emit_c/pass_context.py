"""What the passes over the loop IR know beside the loops: one frozen value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.dependence.reductions import OVERWRITES, Reduction, find_reductions
from polysched.dependence.reductions.wide_sums import is_wide_sum
from polysched.emit_c.bodies.array_bounds import accumulators_exist
from polysched.emit_c.bodies.linear_combinations import collected
from polysched.emit_c.bodies.row_subscripts import with_row_subscripts
from polysched.emit_c.bodies.wrapping_sums import turned_by, with_wrapping_sums
from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.generation.parameter_guard import ParameterGuard, parameter_guard
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import Node, ThreadReduction
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of, local_array_names, taken_names
from polysched.emit_c.loop_ir.traversal import instances, loop_names, walk_nodes
from polysched.emit_c.nests.array_contraction import contracted, with_own_values
from polysched.emit_c.nests.thread_reductions import PLACES
from polysched.emit_c.region import RegionPrinter
from polysched.emit_c.scalar_code.band_comments import band_comments
from polysched.emit_c.scalar_code.heap import is_expanded
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import (
    IndexPrinter,
    parameter_quotients,
    parameter_ranges,
    parameter_spellings,
)
from polysched.emit_c.scalar_code.preemption import stop_names
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.partial_results import IN_ORDER, OPERATORS
from polysched.emit_c.vector_math import VectorMath
from polysched.records import dataclass
from polysched.scop.scop import Array, Scop, Storage
from polysched.tiling.tiled_schedule import TiledSchedule


@dataclass(frozen=True, eq=False, kw_only=True)
class PassContext:
    """What every pass may ask.

    Parameters
    ----------
    tiled : the schedule that the loops follow; holds everything before it.
    options : what the emitted C may use.
    own_memory : the region may ask for memory of its own: buffers of unknown size with a part per thread, and panels
        that threads share.
    guard : the parameter values that can occur inside the region.
    taken : identifiers that no pass may make up.
    printer : the bodies and how they print, for the passes that ask whether something has vector code; None for those
        that run before bodies are settled.
    """

    tiled: TiledSchedule
    options: EmitOptions
    own_memory: bool
    guard: ParameterGuard
    taken: TakenNames
    printer: RegionPrinter | None = None

    @property
    def scop(self) -> Scop:
        """The program, with the bodies as the schedule has them."""
        return self.tiled.schedule.scop

    @property
    def dependences(self) -> Dependences:
        return self.tiled.schedule.dependences

    @property
    def facts(self) -> Facts:
        """What holds around the whole region."""
        return Facts(context=self.guard.context)

    @property
    def code(self) -> RegionPrinter:
        """The printer, for passes that run once bodies are settled."""
        if self.printer is None:
            raise ValueError("a pass that asks for vector code runs before the bodies are settled")
        return self.printer

    @property
    def _settled(self) -> Scop:
        """The program, with the bodies as they are printed once these are settled."""
        return self.scop if self.printer is None else self.printer.scop

    @property
    def contracted_arrays(self) -> tuple[str, ...]:
        """Arrays around the region that could become buffers of its own, since all their values are its own."""
        return with_own_values(self.dependences) if self.own_memory and self.options.trace is None else ()

    def temporary_names(self) -> dict[str, str]:
        """The C name that each array gets where the region declares it."""
        return local_array_names(self.scop, self.taken) | local_array_names(
            self.scop, self.taken, also=self.contracted_arrays)

    def kept_arrays(self, loops: Node) -> tuple[str, ...]:
        """What is gone when the function around the region returns, though values of it stand beside the loops.

        Arrays of the region's own, and variables that it writes and that may belong to the function.  Bodies are
        settled.
        """
        placed = contracted(loops)
        written = {a.array for s in self.scop.statements for a in s.writes}
        return tuple(a.name for a in self.scop.arrays if a.name not in placed and (
            a.name in self.code.local_names or (a.name in written and _may_be_of_function(a))))

    def memory_name(self, array: str) -> str:
        """The C name of memory from the heap for the parts of an array."""
        return self.taken.fresh(f"{identifier_of(array)}_parts")

    def free_reductions(self) -> dict[str, Reduction]:
        """The reductions whose updates may come in any order, by statement; of the settled bodies once these are."""
        return self._in_lanes(OPERATORS)

    def reductions_in_lanes(self) -> dict[str, Reduction]:
        """The reductions that lanes can compute apart, to be combined by the order of what they found, by statement."""
        return self._in_lanes(OPERATORS | IN_ORDER)

    def sums_in_order(self) -> dict[str, Reduction]:
        """The sums and products of floats whose order the options keep, by statement."""
        scop, free = self._settled, self.reductions_in_lanes()
        return {r.statement: r for r in find_reductions(scop)
                if r.statement not in free and all(part.operator in ROUNDED for part in r.accumulators)
                and accumulators_exist(scop, r)}

    def reductions_in_parts(self) -> dict[str, Reduction]:
        """The reductions that ranges of iterations can compute apart, to be combined in order, by statement."""
        return self._reductions(self.scop, OPERATORS | OVERWRITES | PLACES, wide_sums=False)

    def _in_lanes(self, operators: frozenset[str]) -> dict[str, Reduction]:
        """Those that lanes may combine: wide sums, which threads leave in order, are too, so that the number of
        threads changes no result."""
        return self._reductions(self._settled, operators, wide_sums=self.options.wide_sums)

    def _reductions(self, scop: Scop, operators: frozenset[str], *, wide_sums: bool) -> dict[str, Reduction]:
        """The reductions by some operators that the options allow, of elements that exist whatever the conditions."""
        return {r.statement: r for r in find_reductions(scop)
                if all(part.operator in operators for part in r.accumulators)
                and (r.exact or self.options.reassociate or (wide_sums and is_wide_sum(scop, r)))
                and accumulators_exist(scop, r)}


ROUNDED = frozenset({"sum", "product"})
"""Reductions whose results depend on the order where they are of floats."""


def _may_be_of_function(array: Array) -> bool:
    """Whether an array may be a variable of the function around the region, or a parameter by value."""
    by_value = array.is_scalar and not array.c_element.startswith("(*")
    return array.storage is Storage.OUTER or (array.storage is Storage.ARGUMENT and by_value)


def pass_context(tiled: TiledSchedule, options: EmitOptions, *, own_memory: bool) -> PassContext:
    """The context of the first pass."""
    scop = tiled.schedule.scop
    return PassContext(tiled=tiled, options=options, own_memory=own_memory, guard=region_guard(tiled),
                       taken=taken_names(scop, reserved=() if options.trace is None else (options.trace,)))


def region_guard(tiled: TiledSchedule) -> ParameterGuard:
    """What is tested around the region, which plain loops do not need."""
    return parameter_guard(tiled.schedule.scop, wanted=any(band.sizes for band in tiled.bands))


def with_bodies(context: PassContext, loops: Node) -> PassContext:
    """The context with bodies that suit the order of the loops, and with the printer that knows them.

    Sums that the schedule or threads reorder wrap around; equal factors are collected where floats may be reassociated.
    """
    scop, options, taken = context.scop, context.options, context.taken
    macros = HelperMacros(taken)
    index = IndexPrinter(parameters=parameter_ranges(scop, context.guard.context),
                         spellings=parameter_spellings(scop), macros=macros, quotients=parameter_quotients(scop))
    types = VectorTypes(taken)
    math = VectorMath(taken, types, options.vector_bits, options.target.costs.divider_bits) if (
        options.vector_bits and options.math == "vector") else None
    names = _declared_names(context, loops)
    if options.reassociate and options.trace is None:
        scop = collected(scop, but={r.statement for r in find_reductions(scop)})
    scop, wrapping = map(with_row_subscripts, _without_overflow(scop, context.tiled, loops))
    return replace(context, printer=RegionPrinter(
        scop=scop, index=index, local_names=names, options=options, comments=band_comments(context.tiled), types=types,
        taken=taken, loop_names=loop_names(loops), math=math, wrapping=wrapping,
        stops=stop_names(taken) if options.preemptible else None))


def _declared_names(context: PassContext, loops: Node) -> dict[str, str]:
    """The C names of the arrays that the region declares, once it is known which of them became buffers."""
    placed, names = contracted(loops), context.temporary_names()
    kept = {array: name for array, name in names.items()
            if array in placed or array not in context.contracted_arrays}
    return kept | {a.name: context.taken.fresh(f"{identifier_of(a.name)}_copies") for a in context.scop.arrays
                   if a.name in kept and a.name not in placed and is_expanded(a)}


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

