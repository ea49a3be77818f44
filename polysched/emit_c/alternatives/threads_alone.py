"""`threads_alone`: a loop that gains by threads alone, for which the original code runs where threads do not pay.

    for (j = i; j <= n; j += i) d[j]++;   ->   if (n - i >= 65535 * i) { the loop on threads } else { the loop as written }

On one thread such a loop is at best the one that was written.  One whose number of iterations has to be computed for
threads (a division, where the step is a variable) is slower: short loops by steps of an outer counter took 1.5 times as
long (`experiments/found`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from polysched.emit_c.lowering import Lowered
from polysched.emit_c.loop_ir.index import variables
from polysched.emit_c.loop_ir.loops import For, Node, OnCopy, Packed, RegisterTile, ThreadReduction
from polysched.emit_c.loop_ir.traversal import map_children, variables_set_by, walk_nodes
from polysched.emit_c.scalar_code.openmp import team_condition
from polysched.emit_c.scalar_code.work import lengths


def threads_alone(lowered: Lowered) -> tuple[Lowered, str] | None:
    """The region that starts its threads always, and the sizes for which they pay, in C.

    None unless its only gain is one loop on threads without loops inside, whose length is known ahead of the region.
    """
    if not lowered.context.options.openmp or lowered.allocated:
        return None
    loops = [node for node in walk_nodes(lowered.loops) if isinstance(node, For)]
    teams = [loop for loop in loops if loop.mark.parallel]
    in_lanes = lowered.context.options.simd
    if len(teams) != 1 or any(_gains_otherwise(node, in_lanes=in_lanes) for node in walk_nodes(lowered.loops)):
        return None
    team = teams[0]
    if any(isinstance(node, For) for node in walk_nodes(team.body)) or _depends_on_others(lowered.loops, team):
        return None
    condition = team_condition(team, above=(), index=lowered.context.code.index)
    if condition is None:
        return None
    always = replace(team, mark=replace(team.mark, least_iterations=1, least_work=1))
    return replace(lowered, loops=_with(lowered.loops, team, always)), str(condition)


def _gains_otherwise(node: Node, *, in_lanes: bool) -> bool:
    return isinstance(node, RegisterTile | ThreadReduction | Packed | OnCopy) or (isinstance(node, For) and (
        (in_lanes and node.mark.simd) or node.mark.unroll > 1 or node.behind > 0))


def _depends_on_others(root: Node, team: For) -> bool:
    """Whether the length of a loop depends on what the region sets, or the loop stands in another."""
    around = [node for node in walk_nodes(root) if node is not team and any(n is team for n in walk_nodes(node))]
    own = {name for node in around for name in variables_set_by(node)}
    used = {name for length in lengths(team) for name in variables(length)}
    return any(isinstance(node, For) for node in around) or bool(own & (used | variables(team.lower)))


def _with(node: Node, old: For, new: For) -> Node:
    return new if node is old else map_children(node, partial(_with, old=old, new=new))
