"""Whether an access can be carried out for more instances than the program would."""

from __future__ import annotations

import islpy as isl

from polysched.scop.scop import Access, Scop


def inside_array(scop: Scop, access: Access) -> bool:
    """Whether every instance of the statement's domain reaches an element that exists.

    False also where the extents or the subscripts are not known exactly.
    """
    array = scop.array(access.array)
    reached = access.relation.intersect_params(scop.context.params()).range()
    if not access.exact or reached.dim(isl.dim_type.set) != len(array.extents):
        return False
    for position, extent in enumerate(array.extents):
        if extent is None:
            return False
        line = reached.project_out(isl.dim_type.set, position + 1, len(array.extents) - position - 1)
        line = line.project_out(isl.dim_type.set, 0, position)
        if not line.is_empty() and not _between(line, extent):
            return False
    return True


def _between(line: isl.Set, extent: isl.PwAff) -> bool:
    """Whether a one-dimensional set lies in [0, extent) for all parameters."""
    if not line.is_bounded():
        return False
    least, largest = line.dim_min(0), line.dim_max(0)
    zero = least.sub(least)
    return bool(least.lt_set(zero).is_empty() and largest.ge_set(extent).is_empty())
