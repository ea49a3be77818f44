"""The flags of a tree's bands, computed exactly from the dependences."""

from __future__ import annotations

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active, active_below, all_active, judge_band
from polysched.scop.schedule_nodes import NodeKind, kind_of


def with_exact_flags(dependences: Dependences, tree: isl.Schedule, *, permutable: bool = True) -> isl.Schedule:
    """The same tree with `coincident` set on every band member, and `permutable` on every band if wanted.

    The tree is walked once; what is active is carried along.
    """
    return _flag_below(tree.get_root(), all_active(dependences), permutable).get_schedule()


def _flag_below(node: isl.ScheduleNode, active: list[Active], permutable: bool) -> isl.ScheduleNode:
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        return node
    if kind == NodeKind.band:
        judged = judge_band(active, node)
        if permutable:
            node = node.band_set_permutable(int(judged.permutable))
        for member, coincident in enumerate(judged.coincident):
            node = node.band_member_set_coincident(member, int(coincident))
    for position in range(node.n_children()):
        node = _flag_below(node.child(position), active_below(node, active, position), permutable).parent()
    return node
