"""What of each array is live: what the device gets before the region, and what comes back behind it.

Rows are copied whole: a copy is the range of the first subscript that is live.  Rows that come back have to be there
whole, so what the region does not overwrite of them goes to the device, too.  Of these the host stores what changed.
"""

from __future__ import annotations

from functools import partial

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.gpu.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.budget import with_budget
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement


@dataclass(frozen=True, eq=False, kw_only=True)
class DeviceArray:
    """An array as the device has it.

    Parameters
    ----------
    array : of the program.
    used : every element that the region may touch.
    copied_in : elements whose rows the device needs from the host; empty for none.
    copied_out : elements whose rows the host needs from the device; empty for none.
    by_value : a scalar that the region only reads: it is an argument of the kernels.
    partly_written : the region may leave elements of the rows that come back alone; others may own those.
    """

    array: Array
    used: isl.Set
    copied_in: isl.Set
    copied_out: isl.Set
    by_value: bool = False
    partly_written: bool = False

    @property
    def in_front(self) -> isl.Set:
        """The elements in front of the first one that the region may touch; a device has none of them."""
        if self.array.is_scalar or self.used.is_empty():
            return isl.Set.empty(self.used.get_space())
        return self.used.upper_bound_val(isl.dim_type.set, 0, isl_value(-1))

    def __str__(self) -> str:
        if self.by_value:
            return ""
        ways = [word for word, part in (("to the device", self.copied_in), ("back", self.copied_out))
                if not part.is_empty()]
        return f"array {self.array.name}: {'copied ' + ' and '.join(ways) if ways else 'on the device only'}"


def device_arrays(dependences: Dependences) -> tuple[DeviceArray, ...]:
    """What the device has of each array of a program."""
    return tuple(_device_array(dependences, array) for array in dependences.scop.arrays)


def _device_array(dependences: Dependences, array: Array) -> DeviceArray:
    scop = dependences.scop
    accesses = [(s, a) for s in scop.statements for a in s.accesses if a.array == array.name]
    nothing = isl.Set.empty(_space(scop, array))
    used, written, surely = nothing, nothing, nothing
    for statement, access in accesses:
        reached = _elements(scop, array, access, statement.domain)
        used = used.union(reached)
        if access.is_write:
            written = written.union(reached)
        if access.kind is AccessKind.MUST_WRITE and access.exact:
            surely = surely.union(reached)
    if array.is_scalar and written.is_empty():
        return DeviceArray(array=array, used=used, copied_in=nothing, copied_out=nothing, by_value=True)
    outside = nothing if array.is_temporary else written
    kept = whole_rows(array, outside).subtract(surely)
    inside = _live_in(dependences, accesses, array, used)
    return DeviceArray(array=array, used=used.coalesce(), copied_in=inside.union(kept).coalesce(),
                       copied_out=outside.coalesce(), partly_written=not kept.is_empty())


def _space(scop: Scop, array: Array) -> isl.Space:
    space = scop.context.get_space()
    return (isl.Space.set_from_params(space) if space.is_params() else space).add_dims(
        isl.dim_type.set, len(array.extents)).set_tuple_name(isl.dim_type.set, array.name)


def _elements(scop: Scop, array: Array, access: Access, domain: isl.Set) -> isl.Set:
    """The elements that an access reaches; where it may reach any, those inside the extents that are known."""
    reached = access.relation.intersect_domain(domain.intersect_params(scop.context)).range()
    if access.exact:
        return reached
    for position, extent in enumerate(array.extents):
        if extent is not None:
            inside = _below(position, extent, len(array.extents))
            reached = reached.intersect(inside.set_tuple_name(array.name))
    return reached


def _below(position: int, extent: isl.PwAff, dimensions: int) -> isl.Set:
    """`{ [..., x, ...] : 0 <= x < extent }`."""
    end = isl.Set.from_pw_aff(extent)
    inside = end.apply(isl.Map.lex_gt(end.get_space())).lower_bound_val(isl.dim_type.set, 0, 0)
    inside = inside.insert_dims(isl.dim_type.set, 0, position)
    return inside.add_dims(isl.dim_type.set, dimensions - position - 1)


def whole_rows(array: Array, elements: isl.Set) -> isl.Set:
    """Every element of the array in the range of rows that some elements span, whether the region uses it or not."""
    dimensions = elements.dim(isl.dim_type.set)
    if not dimensions:
        return elements
    whole = row_range(elements).add_dims(isl.dim_type.set, dimensions - 1)
    for position, extent in enumerate(array.extents):
        if position and extent is not None:
            whole = whole.intersect(_below(position, extent, dimensions))
    return whole.set_tuple_name(array.name)


def row_range(elements: isl.Set) -> isl.Set:
    """`{ [x] }`: every row from the first to the last that has some of the elements."""
    rows = elements.project_out(isl.dim_type.set, 1, elements.dim(isl.dim_type.set) - 1).reset_tuple_id()
    space = rows.get_space()
    return rows.apply(isl.Map.lex_le(space)).intersect(rows.apply(isl.Map.lex_ge(space))).coalesce()


def _live_in(dependences: Dependences, accesses: list[tuple[Statement, Access]], array: Array,
             used: isl.Set) -> isl.Set:
    """The elements that may be read before the region writes them."""
    if dependences.fallbacks or dependences.by_memory or not dependences.value_based:
        return used
    found = with_budget(LIMITS.transfer_operations, partial(_read_first, dependences, accesses, array, used))
    return used if found is None else found


def _read_first(dependences: Dependences, accesses: list[tuple[Statement, Access]], array: Array,
                used: isl.Set) -> isl.Set:
    scop = dependences.scop
    flow = [p for p in dependences.pairs if p.array == array.name and p.kind is DependenceKind.FLOW]
    found = isl.Set.empty(used.get_space())
    for statement, access in accesses:
        if access.is_write:
            continue
        unknown = statement.domain.intersect_params(scop.context)
        for pair in flow:
            source = scop.statement(pair.source).access(pair.source_reference)
            if pair.sink_reference == access.reference and source.kind is AccessKind.MUST_WRITE and source.exact:
                unknown = unknown.subtract(pair.relation.range())
        found = found.union(_elements(scop, array, access, unknown))
    return found
