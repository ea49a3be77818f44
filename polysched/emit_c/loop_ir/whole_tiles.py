"""Loops over tiles that may be cut: a copy with constant bounds where the tile is whole.

    for (i = 0; i < min(16, M - 16y); i++)       if (M - 16y >= 16 && N - 32x >= 32)
      for (j = 0; j < min(32, N - 32x); j++)       for (i = 0; i < 16; i++) for (j = 0; j < 32; j++) S
        S                                   ->   else
                                                   the loops as they were

A compiler that knows how often loops run unrolls them, and keeps in registers what they go over again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.emit_c.loop_ir.index import Comparison, Condition, Extreme, Linear, constant, junction
from polysched.emit_c.loop_ir.loops import For, If, Node
from polysched.emit_c.loop_ir.traversal import map_children, variables_set_by, walk_nodes


def with_whole_tiles(node: Node) -> Node:
    """The outermost loops that may be cut, each once more for whole tiles."""
    cuts = _cuts(node) if isinstance(node, For) else {}
    if not isinstance(node, For) or node.variable not in cuts:
        return map_children(node, with_whole_tiles)
    conditions: dict[Condition, None] = dict.fromkeys(
        Comparison(">=", other, constant(whole)) for whole, others in cuts.values() for other in others)
    return If(junction("&&", conditions), _whole(node, {name: whole for name, (whole, _) in cuts.items()}), node)


def _cuts(node: Node) -> dict[str, tuple[int, tuple[Linear, ...]]]:
    """The bounds of all loops that may be cut, by variables; only those that are known in front of the node."""
    inside = frozenset(name for own in walk_nodes(node) for name in variables_set_by(own))
    found: dict[str, set[tuple[int, tuple[Linear, ...]] | None]] = {}
    for loop in _loops(node):
        found.setdefault(loop.variable, set()).add(_cut(loop))   # loops one after the other may share a variable
    only = {name: cut for name, (cut, *more) in found.items() if cut is not None and not more}
    return {name: (whole, others) for name, (whole, others) in only.items()
            if all(inside.isdisjoint(other.variables) for other in others)}


def _loops(node: Node) -> Iterator[For]:
    return (own for own in walk_nodes(node) if isinstance(own, For))


def _cut(loop: For) -> tuple[int, tuple[Linear, ...]] | None:
    """The bound of a loop over a whole tile, and the others, of which the least may be before it."""
    match loop.upper.terms:
        case ((Extreme(kind="min", arms=arms), 1),) if loop.guard is None and loop.lower.is_constant:
            arms = tuple(arm + loop.upper.constant for arm in arms)
            numbers = [arm.constant for arm in arms if arm.is_constant]
            return (numbers[0], tuple(arm for arm in arms if not arm.is_constant)) if numbers else None
        case _:
            return None


def _whole(node: Node, wholes: dict[str, int]) -> Node:
    """The loops with constant bounds."""
    node = map_children(node, lambda child: _whole(child, wholes))
    if isinstance(node, For) and node.variable in wholes:
        return replace(node, upper=constant(wholes[node.variable]))
    return node
