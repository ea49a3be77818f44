"""Which values parameters can have, by the arrays that they index: an access has to stay inside its array.

    double a[160]; ... for (p = 0; p < n; p++) a[p] = 0;   ->   n is at most 160

What is concluded serves to estimate memory, to choose tiles and the sizes at which code is tried, never to prove
anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import islpy as isl

from polysched.dependence.limits import LIMITS
from polysched.scop.budget import with_budget
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, AccessKind, Scop, Statement

LARGEST_BOUND = LIMITS.parameter_bound
BOUND_OPERATIONS = LIMITS.bound_isl_operations


@lru_cache(maxsize=16)
def largest_parameters(scop: Scop) -> Mapping[str, int]:
    """The largest value of each parameter for which everything runs and stays inside arrays of constant extents.

    Parameters without such a bound are left out, all of them where finding out takes too many isl operations.
    """
    return with_budget(BOUND_OPERATIONS, lambda: _bounds(scop)) or {}


@lru_cache(maxsize=16)
def sizes_inside(scop: Scop, *running: str) -> isl.Set | None:
    """The parameters of the context for which no access that always happens leaves its array, by all its extents.

    None where that takes too many isl operations. Empty where some access leaves its array at all sizes.

    Parameters
    ----------
    running : names of statements that have iterations.
    """
    return with_budget(BOUND_OPERATIONS, lambda: _inside(scop, running))


def _inside(scop: Scop, running: Collection[str]) -> isl.Set:
    inside = scop.context.params()
    for name in running:
        inside = inside.intersect(scop.statement(name).domain.params())
    for statement in scop.statements:
        for access in statement.accesses:
            if not access.exact or access.kind is AccessKind.MAY_WRITE:
                continue
            reached = access.relation.intersect_domain(statement.domain).range().reset_tuple_id()
            for at, extent in enumerate(scop.array(access.array).extents):
                element = reached.project_out(isl.dim_type.set, at + 1, reached.dim(isl.dim_type.set) - at - 1)
                element = element.project_out(isl.dim_type.set, 0, at)
                outside = element.upper_bound_val(isl.dim_type.set, 0, isl_value(-1)).params()
                if extent is not None:
                    pair = element.flat_product(isl.Set.from_pw_aff(extent))
                    behind = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ [x, e] : x >= e }")
                    outside = outside.union(pair.intersect(behind).params())
                inside = inside.subtract(outside)
        inside = inside.coalesce()
    return inside


def _bounds(scop: Scop) -> dict[str, int]:
    inside = scop.context.params()
    for statement in scop.statements:
        runs = inside.intersect(statement.domain.params())
        for access in statement.accesses:
            runs = runs.subtract(_leaves_array(scop, statement, access))
        if not runs.is_empty():   # else it is about parameters for which it does not run together with the others
            inside = runs.coalesce()
    found = {p: _largest(inside, p.name) for p in scop.parameters}
    return {p.name: value for p, value in found.items()
            if value is not None and value <= LARGEST_BOUND and (p.dtype.bits < 16 or value < p.dtype.value_range()[1])}


def _leaves_array(scop: Scop, statement: Statement, access: Access) -> isl.Set:
    """The parameters for which an access certainly reaches an element that its array does not have."""
    reached = access.relation.intersect_domain(statement.domain).intersect_params(scop.context.params()).range()
    outside = isl.Set.empty(reached.get_space())
    if access.exact and access.kind is not AccessKind.MAY_WRITE:
        for dimension, extent in enumerate(scop.array(access.array).extents):
            number = None if extent is None else _constant(extent)
            if number is not None:
                outside = outside.union(reached.lower_bound_val(isl.dim_type.set, dimension, isl_value(number)))
    return outside.params()


def _constant(extent: isl.PwAff) -> int | None:
    forms = [form for _, form in extent.get_pieces()]
    if len(forms) != 1 or not forms[0].is_cst():
        return None
    value = forms[0].get_constant_val()
    return int(value.to_python()) if value.is_int() else None


def _largest(parameters: isl.Set, name: str) -> int | None:
    position = parameters.find_dim_by_name(isl.dim_type.param, name)
    if position < 0:
        return None
    line = isl.Set.from_params(parameters).move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
    value = line.dim_max_val(0)
    return int(value.to_python()) if value.is_int() else None


__all__ = ["largest_parameters", "sizes_inside"]
