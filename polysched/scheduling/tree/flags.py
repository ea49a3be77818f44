"""The flags of a tree's bands, computed exactly from the dependences."""

from __future__ import annotations

import logging

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import Active, active_below, all_active, judge_band
from polysched.scop.budget import ISL_OPERATIONS, with_budget
from polysched.scop.schedule_nodes import NodeKind, kind_of

_LOG = logging.getLogger(__name__)


def with_exact_flags(dependences: Dependences, tree: isl.Schedule, *, permutable: bool = True) -> isl.Schedule:
    """The same tree with `coincident` set on every band member, and `permutable` on every band if wanted.

    The tree is walked once; what is active is carried along.  The caller sets a budget of isl operations.
    """
    return _flag_below(tree.get_root(), all_active(dependences), permutable).get_schedule()


def with_flags_in_budget(dependences: Dependences, tree: isl.Schedule, *, permutable: bool = True) -> isl.Schedule:
    """`with_exact_flags` where isl can decide them within its budget; else the tree without flags.

    A loop that is not known to be parallel is sequential.
    """
    flagged = with_budget(ISL_OPERATIONS, lambda: with_exact_flags(dependences, tree, permutable=permutable))
    if flagged is None:
        _LOG.warning("function %s: its loops run on one thread, without vectors: deciding which of them are parallel "
                     "takes isl more than %d operations; mark a smaller region", dependences.scop.name, ISL_OPERATIONS)
        return without_flags(tree)
    return flagged


def without_flags(tree: isl.Schedule) -> isl.Schedule:
    """The same tree with every flag of its bands cleared, which is always right."""
    return tree.map_schedule_node_bottom_up(_cleared)


def _cleared(node: isl.ScheduleNode) -> isl.ScheduleNode:
    if kind_of(node) == NodeKind.band:
        node = node.band_set_permutable(0)
        for member in range(node.band_n_member()):
            node = node.band_member_set_coincident(member, 0)
    return node


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
