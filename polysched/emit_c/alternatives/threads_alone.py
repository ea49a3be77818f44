"""`threads_alone`: loops that gain by threads alone, for which the original code runs where threads do not pay.

    for (j = i; j <= n; j += i) d[j]++;   ->   if (n - i >= 65535 * i) { the loop on threads } else { as written }

On one thread such loops are at best the ones that were written.  A loop whose number of iterations has to be computed
for threads (a division, where the step is a variable) is slower, and so is one that has parts: short loops by steps of
an outer counter took 1.5 times as long (`experiments/found`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from polysched.emit_c.loop_ir.index import Variable, variables
from polysched.emit_c.loop_ir.loops import (
    For,
    Node,
    OnCopy,
    Packed,
    RegisterTile,
    StatementInstance,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.loop_ir.traversal import child_nodes, holds, instances, map_children, variables_set_by, walk_nodes
from polysched.emit_c.lowering import Lowered
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.openmp import team_condition
from polysched.emit_c.scalar_code.work import is_worth, lengths


def threads_alone(lowered: Lowered) -> tuple[Lowered, str] | None:
    """The region that starts its threads always, and the sizes for which they pay, in C.

    None unless all that the statements in the deepest loops gain is one outermost loop on threads, or a reduction in
    parts, whose loops are in the order of the source and whose length is known ahead of the region.
    """
    options = lowered.context.options
    if not options.openmp:
        return None
    around = _around_deepest(lowered.loops)
    teams = [node for node in around if isinstance(node, ThreadReduction) or (
        isinstance(node, For) and node.mark.parallel)]
    if len(teams) != 1 or any(_gains_otherwise(node, in_lanes=options.simd) for node in around):
        return None
    (team,) = teams
    whole = team.whole if isinstance(team, ThreadReduction) else team
    if not _follows_source(whole, ()) or _depends_on_others(lowered.loops, team, whole):
        return None
    condition = _condition(lowered, team)
    return None if condition is None else (replace(lowered, loops=_always(lowered.loops, team)), str(condition))


def _around_deepest(loops: Node) -> list[Node]:
    """The nodes around statements in the deepest loops; others take no time beside these."""
    deepest = max((len(i.iterators) for i in instances(loops)), default=0)
    return [node for node in walk_nodes(loops) if any(len(i.iterators) == deepest for i in instances(node))]


def _condition(lowered: Lowered, team: Node) -> CText | None:
    """When a team pays; None where that is not a matter of sizes alone, or takes macros, which the region defines."""
    macros = HelperMacros(taken_names(lowered.context.scop))
    index = replace(lowered.context.code.index, macros=macros)
    worth: CText | bool | None
    if isinstance(team, For):
        worth = team_condition(team, above=(), index=index)
    else:
        assert isinstance(team, ThreadReduction)
        if any(part.element is None for part in team.parts):
            return None
        worth = is_worth(team.whole, lowered.context.options.team_iterations, index)
    return worth if isinstance(worth, CText) and not macros.definitions() else None


def _always(node: Node, team: Node) -> Node:
    """The loops with a team that starts whatever the sizes are."""
    if node is team and isinstance(node, For):
        return replace(node, mark=replace(node.mark, least_iterations=1, least_work=1))
    return map_children(node, partial(_always, team=team))


def _gains_otherwise(node: Node, *, in_lanes: bool) -> bool:
    if isinstance(node, RegisterTile):   # one without edges only holds an element in a register
        return bool(node.edges or node.partials)
    return isinstance(node, Packed | OnCopy) or (isinstance(node, For) and (
        (in_lanes and node.mark.simd) or node.mark.unroll > 1 or node.behind > 0))


def _follows_source(node: Node, around: tuple[str, ...]) -> bool:
    """Whether the loops around each statement are its own, in their order."""
    if isinstance(node, StatementInstance):
        own = tuple(form.terms for form in node.iterators)
        return own == tuple(((Variable(name), 1),) for name in around)
    if isinstance(node, For):
        around = (*around, node.variable)
    if isinstance(node, RegisterTile):
        around = (*around, *(loop.variable for loop in node.loops))
    return all(_follows_source(child, around) for child in child_nodes(node))


def _depends_on_others(root: Node, team: Node, whole: For) -> bool:
    """Whether the length of a loop depends on what the region sets, or the loop stands in another."""
    around = [node for node in walk_nodes(root) if node is not team and holds(node, team)]
    own = {name for node in around for name in variables_set_by(node)}
    used = {name for length in lengths(whole) for name in variables(length)}
    return any(isinstance(node, For) for node in around) or bool(own & (used | variables(whole.lower)))
