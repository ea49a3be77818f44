"""Statements that stand inside others: the bodies of loops, the branches of conditions, the items of blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from polysched.scop.c_frontend.parse import LOOPS

BODIES = ("stmt", "iftrue", "iffalse")
"""Where a statement has others inside."""


def rewrite_bodies(node: c_ast.Node, rewritten: Callable[[c_ast.Node], Sequence[c_ast.Node]]) -> None:
    """Put what the bodies and branches of a statement become in their place, in place.

    Parameters
    ----------
    rewritten : the statements that one becomes; several make a block.
    """
    if isinstance(node, c_ast.TernaryOp):
        return
    for name in BODIES:
        below = getattr(node, name, None)
        if below is not None:
            setattr(node, name, as_one(rewritten(below), below))


def as_one(items: Sequence[c_ast.Node], node: c_ast.Node) -> c_ast.Node:
    """Statements as one, in the place of `node`."""
    return items[0] if len(items) == 1 else c_ast.Compound(list(items), node.coord)


def block(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a body."""
    if node is None or isinstance(node, c_ast.EmptyStatement):
        return []
    return list(node.block_items or ()) if isinstance(node, c_ast.Compound) else [node]


def leaves(node: c_ast.Node | None, kind: type[c_ast.Node] | tuple[type[c_ast.Node], ...]) -> bool:
    """Whether a statement holds a `break` or `continue` of the loop around it."""
    if node is None:
        return False
    if isinstance(node, kind):
        return True
    return not isinstance(node, LOOPS) and any(leaves(child, kind) for _, child in node.children())
