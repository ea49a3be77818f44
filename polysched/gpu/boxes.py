"""The least box of constant extents around elements whose place is given by parameters: what a tile of them takes."""

from __future__ import annotations

from math import prod

import islpy as isl

from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Edge:
    """One dimension of a box.

    Parameters
    ----------
    factors : of the parameters in the least subscript, in the order of their first mention.
    constant : what is added to them.
    extent : elements.
    """

    factors: tuple[tuple[str, int], ...]
    constant: int
    extent: int


def box_of(elements: isl.Set, *, whole: bool = False) -> tuple[Edge, ...] | None:
    """A box of constant extents around elements, for all values of the parameters; None where there is none.

    Parameters
    ----------
    whole : a dimension without a bound that moves with the parameters has all values of all of them, where these end.

    Source: S. Verdoolaege et al., "Polyhedral Parallel Code Generation for CUDA", ACM TACO 9(4), 2013, section 6.1.
    """
    edges = [_edge(elements, k) or (_whole_edge(elements, k) if whole else None)
             for k in range(elements.dim(isl.dim_type.set))]
    known = tuple(edge for edge in edges if edge is not None)
    return known if len(known) == len(edges) else None


def box_elements(box: tuple[Edge, ...]) -> int:
    return prod(edge.extent for edge in box)


def _edge(elements: isl.Set, dimension: int) -> Edge | None:
    """The bound of one dimension from below that leaves the fewest elements."""
    kinds = isl.dim_type.set
    rest = elements.dim(kinds) - dimension - 1
    values = elements.project_out(kinds, dimension + 1, rest).project_out(kinds, 0, dimension).reset_tuple_id()
    hull = values.simple_hull().remove_divs()
    found = [edge for constraint in hull.get_constraints() if (edge := _of_constraint(hull, constraint)) is not None]
    return min(found, key=lambda edge: (edge.extent, len(edge.factors)), default=None)


def _whole_edge(elements: isl.Set, dimension: int) -> Edge | None:
    """From the least to the largest subscript, whatever the parameters are."""
    first, last = elements.dim_min_val(dimension), elements.dim_max_val(dimension)
    if not first.is_int() or not last.is_int():
        return None
    return Edge(factors=(), constant=int(first.to_python()), extent=int(last.sub(first).to_python()) + 1)


def _of_constraint(hull: isl.BasicSet, constraint: isl.Constraint) -> Edge | None:
    """The edge whose least value a constraint `value + form >= 0` gives."""
    sign = constraint.get_coefficient_val(isl.dim_type.set, 0).to_python()
    if sign != 1 and not (constraint.is_equality() and sign == -1):
        return None
    parameters = isl.dim_type.param
    factors = [(str(constraint.get_dim_name(parameters, k)),
                -sign * constraint.get_coefficient_val(parameters, k).to_python())
               for k in range(constraint.dim(parameters))]
    extent = _most(hull, constraint.get_aff(), sign)
    if extent is None:
        return None
    return Edge(factors=tuple((name, factor) for name, factor in factors if factor), extent=extent,
                constant=-sign * constraint.get_constant_val().to_python())


def _most(hull: isl.BasicSet, above: isl.Aff, sign: int) -> int | None:
    """How many values there are from a bound on, over all values of the parameters; None where there is no end."""
    kinds = isl.dim_type
    count = hull.dim(kinds.param)
    offsets = isl.BasicMap.from_aff(above if sign > 0 else above.neg()).intersect_domain(hull).range()
    free = offsets.move_dims(kinds.set, 1, kinds.param, 0, count).to_set().project_out(kinds.set, 1, count)
    if not free.dim_has_upper_bound(kinds.set, 0):
        return None
    largest = free.dim_max_val(0)
    return int(largest.to_python()) + 1 if largest.is_int() else None
