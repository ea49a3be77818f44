"""Which problem sizes keep every access inside its array: an isl set, so a refusal can name one access.

Only accesses that are known exactly are judged, and what functions reach behind addresses where that is bounded; a
data-dependent subscript is kept in bounds by the values that its index array is filled with.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl

from polysched.errors import SourceLocation, UsageError
from polysched.measure.programs.subscript_reach import largest_subscript
from polysched.records import dataclass
from polysched.scop.body import passed_references
from polysched.scop.points import fix_parameters, value_at, with_sizes
from polysched.scop.scop import Access, Array, Scop, Statement

DIM = isl.dim_type


@dataclass(frozen=True, eq=False, kw_only=True)
class StrayAccess:
    """An access that leaves its array for some parameter values.

    Parameters
    ----------
    outside : `[N] -> { A[i] : ... }`: the elements beyond the array that it reaches.
    parameters : the values for which it does.
    """

    statement: Statement
    access: Access
    array: Array
    outside: isl.Set
    parameters: isl.Set


def stray_accesses(scop: Scop) -> tuple[StrayAccess, ...]:
    """Every access that is judged and leaves its array for some values of the context."""
    found = []
    for statement in scop.statements:
        passed = frozenset(passed_references(statement.body))
        for access in statement.accesses:
            array = scop.array(access.array)
            judged = access.exact or (access.reference in passed and _begins(access.relation.range()))
            if array.is_scalar or not judged:
                continue
            elements = access.relation.intersect_params(scop.context).range()
            outside = elements.subtract(index_box(array, elements.get_space())).coalesce()
            if not outside.is_empty():
                found.append(StrayAccess(statement=statement, access=access, array=array, outside=outside,
                                         parameters=outside.params()))
    return tuple(found)


def _begins(elements: isl.Set) -> bool:
    """Whether there is a first element in every dimension."""
    return all(elements.dim_has_any_lower_bound(DIM.set, at) for at in range(elements.dim(DIM.set)))


def index_box(array: Array, space: isl.Space) -> isl.Set:
    """`{ A[i, j] : 0 <= i < n and 0 <= j < m }`; a dimension without a declared extent has no upper bound."""
    box = isl.Set.universe(space)
    for position, extent in enumerate(array.extents):
        box = box.lower_bound_val(DIM.set, position, isl.Val.zero(space.get_ctx()))
        if extent is not None:
            aligned = of_parameters(extent).align_params(box.get_space())
            box = box.align_params(aligned.get_space())
            index = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(box.get_space()), DIM.set, position)
            box = box.intersect(index.lt_set(aligned.insert_domain(box.get_space())))
    return box


def of_parameters(extent: isl.PwAff) -> isl.PwAff:
    """The extent as a function on parameter values; front ends may also define it on the one point `[]`."""
    return extent if extent.get_domain_space().is_params() else extent.project_domain_on_params()


def valid_sizes(scop: Scop, stray: tuple[StrayAccess, ...]) -> isl.Set:
    """The parameter values of the context for which no exact access leaves its array."""
    return reduce(lambda left, s: left.subtract(s.parameters), stray, scop.context).coalesce()


def check_sizes(scop: Scop, sizes: Mapping[str, int], stray: tuple[StrayAccess, ...]) -> None:
    """Refuse parameter values that lie outside the context or lead an access outside its array.

    Parameters that `sizes` does not name may have any value.

    Raises
    ------
    UsageError : the witness is one access with one element that does not exist.
    """
    spelled = ", ".join(f"{p.spelling}={sizes[p.name]}" for p in scop.parameters if p.name in sizes)
    if with_sizes(scop.context, sizes).is_empty():
        raise UsageError(f"the region assumes sizes that {spelled} contradict", where=_location(scop, 0),
                         witness=str(scop.context), hint="choose other values with --size")
    fixed = with_sizes(valid_sizes(scop, stray), sizes)
    if not fixed.is_empty():
        return
    for item in stray:
        outside = with_sizes(item.outside, sizes)
        if outside.is_empty():
            continue
        point = outside.sample_point()
        index = "".join(f"[{point.get_coordinate_val(DIM.set, d).to_python()}]" for d in range(outside.dim(DIM.set)))
        raise UsageError(
            f"with {spelled or 'any size'} the access {item.access.reference} leaves the array {item.array.name}",
            where=_location(scop, item.statement.line),
            witness=f"{item.array.name}{index}, but the array has {_extents(item.array, sizes)} elements",
            hint="choose smaller values with --size")
    raise UsageError(f"with {spelled} no values of the other parameters keep every access inside its array",
                     where=_location(scop, 0), hint="choose smaller values with --size")


def extents_at(scop: Scop, array: Array, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of an array at these sizes; an undeclared first one is the largest index used, plus one."""
    known = {p.name: sizes.get(p.name, 0) for p in scop.parameters}
    result = []
    for position, extent in enumerate(array.extents):
        if extent is None:
            result.append(1 + _largest_index(scop, array, position, known))
        else:
            result.append(value_at(extent, known))
    return tuple(result)


def _point(extent: isl.PwAff, sizes: Mapping[str, int]) -> isl.Set:
    space = extent.get_domain_space().params()
    return with_sizes(isl.Set.universe(space), sizes)


def _largest_index(scop: Scop, array: Array, position: int, sizes: Mapping[str, int]) -> int:
    largest = 0
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != array.name:
                continue
            elements = fix_parameters(access.relation.range(), sizes)
            if not elements.is_empty():
                value = elements.dim_max_val(position)
                reached = int(value.to_python()) if value.is_int() else \
                    largest_subscript(scop, statement, access, position, sizes)
                if reached is None:
                    raise UsageError(f"how many elements {array.name} needs is not known", where=array.name,
                                     witness=f"{access.reference} may reach any of them",
                                     hint="declare the array's extent in the parameter list")
                largest = max(largest, reached)
    return largest


def _extents(array: Array, sizes: Mapping[str, int]) -> str:
    parts = []
    for extent in array.extents:
        if extent is None:
            parts.append("any number of")
            continue
        fixed = extent.intersect_params(_point(extent, sizes))
        low, high = fixed.min_val(), fixed.max_val()
        parts.append(str(high) if low.eq(high) else str(extent))
    return " x ".join(parts)


def _location(scop: Scop, line: int) -> SourceLocation | str:
    return SourceLocation(scop.source.path, line) if scop.source is not None else scop.name
