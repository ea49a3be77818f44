"""Elements that a program accesses only where a condition on data holds, and whether it may do so elsewhere, too.

    O[i] = M[i] ? A[i] : B[i]        an instruction reads A[i] and B[i] in all lanes
    if (M[i]) O[i] = A[i];           and writes O[i] in all lanes
"""

from __future__ import annotations

import islpy as isl

from polysched.scop.body import unconditional_references
from polysched.scop.construction.affine_sets import extent_box
from polysched.scop.scop import Access, Scop, Statement, Storage


def may_always_be_accessed(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether an access reaches an element that exists in every instance of its statement.

    It does where the element is inside the declared extents of its array, or where the program accesses it without a
    condition on data, sooner or later.  Instances whose other accesses leave their arrays do not run.
    """
    if not access.exact or not statement.domain.is_subset(access.relation.domain()):
        return False
    reached = access.relation.intersect_domain(_running(scop, statement)).range()
    array = scop.array(access.array)
    if all(extent is not None for extent in array.extents) and reached.is_subset(extent_box(array)):
        return True
    return bool(reached.is_subset(_accessed_anyway(scop, access)))


def may_always_be_written(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether the old value may be written to an element in every instance of its statement that does not write it.

    It may where the array is the region's own, or where the program writes the element without a condition on data,
    sooner or later: then no other thread may access it meanwhile (C11 5.1.2.4p25).  Declared extents do not say that,
    nor does a read: rows behind the last one that a mask selects may belong to another thread, or be read-only.
    """
    if not may_always_be_accessed(scop, statement, access):
        return False
    if scop.array(access.array).storage is Storage.LOCAL:
        return True
    reached = access.relation.intersect_domain(_running(scop, statement)).range()
    return bool(reached.is_subset(_accessed_anyway(scop, access, writing=True)))


def _running(scop: Scop, statement: Statement) -> isl.Set:
    """The instances of a statement that may run: what they always access is inside its array."""
    found = statement.domain.intersect_params(scop.context)
    certain = {*unconditional_references(statement.body)}
    for access in statement.accesses:
        array = scop.array(access.array)
        if access.exact and access.reference in certain and all(extent is not None for extent in array.extents):
            found = found.intersect(access.relation.intersect_range(extent_box(array)).domain())
    return found


def _accessed_anyway(scop: Scop, access: Access, *, writing: bool = False) -> isl.Set:
    """The elements of an array that the program accesses without a condition on data; `writing`: that it writes."""
    found = isl.Set.empty(access.relation.range().get_space())
    for statement in scop.statements:
        certain = {*unconditional_references(statement.body)}
        for other in statement.accesses:
            if (other.array == access.array and other.exact and other.reference in certain
                    and (other.is_write or not writing)):
                found = found.union(other.relation.range())
    return found
