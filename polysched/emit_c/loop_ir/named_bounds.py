"""Bounds of a loop that several loops are going to share, under names."""

from __future__ import annotations

from polysched.emit_c.loop_ir.facts import arms_of
from polysched.emit_c.loop_ir.index import Linear, variable
from polysched.emit_c.loop_ir.loops import For, Let, Node
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.traversal import variables_of, walk_nodes
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class NamedBounds:
    """The bounds of a loop, and the names that they have where they are the largest or least of several values."""

    lower: Linear
    upper: Linear
    names: tuple[tuple[str, Linear], ...]

    def around(self, node: Node) -> Node:
        """The node where the names are declared."""
        for name, value in reversed(self.names):
            node = Let(name, value, node)
        return node


def named_bounds(loop: For, taken: TakenNames) -> NamedBounds:
    """The bounds of a loop; `max` and `min` of several arms under a name that hides nothing which the loop names."""
    named = frozenset().union(*map(variables_of, walk_nodes(loop)))
    names: list[tuple[str, Linear]] = []

    def short(form: Linear, kind: str, suffix: str) -> Linear:
        if len(arms_of(form, kind)) == 1:
            return form
        names.append((taken.fresh(f"{loop.variable}_{suffix}", named), form))
        return variable(names[-1][0])

    lower, upper = short(loop.lower, "max", "first"), short(loop.upper, "min", "end")
    return NamedBounds(lower=lower, upper=upper, names=tuple(names))
