"""The arrays that a program overwrites whole before it reads them, so that their contents beforehand do not matter."""

from __future__ import annotations

from functools import partial

import islpy as isl

from polysched.scop.budget import ISL_OPERATIONS, with_budget
from polysched.scop.construction.affine_sets import extent_box
from polysched.scop.scop import AccessKind, Array, Scop, Storage, union_map


def overwritten_arrays(scop: Scop) -> tuple[str, ...]:
    """Arrays of the caller of which every element is written for certain, and none is read before that.

    An array for which that takes too long to decide, or whose extents are unknown, is not among them.
    """
    return tuple(a.name for a in scop.arrays if a.storage is not Storage.LOCAL and _is_overwritten(scop, a))


def _is_overwritten(scop: Scop, array: Array) -> bool:
    accesses = [a for s in scop.statements for a in s.accesses if a.array == array.name]
    if any(e is None for e in array.extents) or not any(a.kind is AccessKind.MUST_WRITE for a in accesses):
        return False
    return bool(with_budget(ISL_OPERATIONS, partial(_covers_and_precedes, scop, array)))


def _covers_and_precedes(scop: Scop, array: Array) -> bool:
    """Whether writes cover the array for all sizes of the context, and every read follows a write of its element."""
    def relation(kind: AccessKind) -> isl.UnionMap:
        return union_map(a.relation for s in scop.statements for a in s.accesses
                         if a.array == array.name and a.kind is kind)

    writes, reads = relation(AccessKind.MUST_WRITE), relation(AccessKind.READ)
    elements = isl.UnionSet.from_set(extent_box(array)).intersect_params(scop.context)
    if not elements.is_subset(writes.range()):
        return False
    if reads.is_empty():
        return True
    flow = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes).set_schedule(scop.schedule).compute_flow()
    return bool(flow.get_must_no_source().intersect_params(scop.context).is_empty())
