"""Copies of operands as statements of the schedule tree, below extension nodes.

Rewrite:  mark [copies B], band i0: ...
      ->  extension { [j0, k0] -> copy_B[k, j] }, sequence { copy_B: band k, j;  mark, band i0: ... }

What is copied follows from the accesses that read the copy and from the loops outside: all elements that they read, and
that nothing writes, while these have their values.  Each element is copied once.  This is the tree for isl's own tools
and for checks; C is generated from the marks (`emit_c.register_tiles.packing`), where the constant lengths of loops are
known.

Source: the manual of isl, "Schedule Trees": extension nodes, and `isl_schedule_node_graft_before`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import islpy as isl

from polysched.scheduling.marks import Copy, LoopMark
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Access, Scop, union_map
from polysched.tiling.tiled_schedule import TiledSchedule


def with_copy_statements(tiled: TiledSchedule) -> isl.Schedule:
    """The tree with a statement `copy_A[...]` for every element that is copied, in front of the loop that reuses it.

    Several copies of one array get numbers: `copy_A_2`.
    """
    root = tiled.tree.get_root()
    taken: set[str] = set()
    for number in reversed(range(_count(root))):    # what stands behind a node moves when something is put before it
        node = _find(root, number)
        mark = _mark(node)
        assert mark is not None
        for copy in mark.copies:
            node = _grafted(node, tiled.schedule.scop, copy, _fresh(copy.array, taken))
        root = node.get_schedule().get_root()
    return root.get_schedule()


def _fresh(array: str, taken: set[str]) -> str:
    first = name = "copy_" + re.sub(r"\W", "_", array)
    number = 1
    while name in taken:
        number += 1
        name = f"{first}_{number}"
    taken.add(name)
    return name


def _grafted(node: isl.ScheduleNode, scop: Scop, copy: Copy, name: str) -> isl.ScheduleNode:
    """A node with a copy in front of it; the same node, further down."""
    prefix = node.get_prefix_schedule_union_map().intersect_domain(node.get_domain())

    def touched(accesses: Iterable[Access]) -> isl.UnionMap:
        relations = union_map(access.relation for access in accesses)
        return prefix.reverse().apply_range(relations)

    accesses = [access for statement in scop.statements for access in statement.accesses]
    read = touched(access for access in accesses if access.reference in copy.references)
    written = touched(access for access in accesses if access.array == copy.array and access.is_write)
    elements = isl.Map.from_union_map(read.subtract(written)).set_tuple_name(isl.dim_type.out, name)
    graft = isl.ScheduleNode.from_extension(isl.UnionMap.from_map(elements)).child(0)
    order = isl.MultiUnionPwAff.from_multi_aff(isl.MultiAff.identity_on_domain_space(
        elements.get_space().range()).reset_tuple_id(isl.dim_type.out))
    return node.graft_before(graft.insert_partial_schedule(order).parent())


def _mark(node: isl.ScheduleNode) -> LoopMark | None:
    return LoopMark.from_text(node.mark_get_id().get_name()) if kind_of(node) == NodeKind.mark else None


def _has_copies(node: isl.ScheduleNode) -> bool:
    mark = _mark(node)
    return mark is not None and bool(mark.copies)


def _count(node: isl.ScheduleNode) -> int:
    return _has_copies(node) + sum(_count(node.child(k)) for k in range(node.n_children()))


def _find(node: isl.ScheduleNode, number: int) -> isl.ScheduleNode:
    """The node with copies that comes behind so many others in pre-order."""
    if _has_copies(node):
        if number == 0:
            return node
        number -= 1
    for k in range(node.n_children()):
        count = _count(node.child(k))
        if number < count:
            return _find(node.child(k), number)
        number -= count
    raise IndexError(number)
