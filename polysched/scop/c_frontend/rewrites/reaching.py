"""The body of a function as statements of a region that reach all that a call of it reaches.

What runs does the same as the call up to its `return`, and may go on behind it: for finding out what the function
reads and writes, and for nothing else.
"""

from __future__ import annotations

import copy

from pycparser import c_ast

from polysched.scop.c_frontend.parse import LOOPS, copied, replace_child
from polysched.scop.c_frontend.rewrites.bodies import BODIES
from polysched.scop.c_frontend.rewrites.returns import body_of, jumps, returns_nothing, with_result, without_returns

RETURNED = "polysched_returned"
"""Stands for the value that a function returns."""


def reaching_block(function: c_ast.FuncDef) -> list[c_ast.Node] | None:
    """Statements without `return` that do all that a function does, and perhaps more; None where it has none.

    Rewrite:  if (c) return a; ...; return b;         ->   T r; if (c) r = a; else { ...; r = b; }
    Rewrite:  while (c) { ...; if (d) return; ... }   ->   while (c) { ...; if (d) break; ... }
    """
    body, returned = copied(body_of(function)), function.decl.type.type
    heads: list[c_ast.Node] = []
    if not returns_nothing(function):
        if not isinstance(returned, c_ast.TypeDecl):
            return None
        kind = copy.deepcopy(returned)
        kind.declname, kind.quals = RETURNED, []
        heads = [c_ast.Decl(RETURNED, [], [], [], [], kind, None, None, function.coord)]
        body = [with_result(item, RETURNED) for item in body]
    items = [_going_on(item, in_loop=False) for item in without_returns(body)]
    return None if jumps(items) else [*heads, *items]


def _going_on(node: c_ast.Node, *, in_loop: bool) -> c_ast.Node:
    """A statement, in place, that leaves a loop where the function is left, and goes on where there is no loop."""
    if isinstance(node, c_ast.Return) and node.expr is None:
        return c_ast.Break(node.coord) if in_loop else c_ast.EmptyStatement(node.coord)
    for name, child in node.children():
        if name in BODIES or name.startswith("block_items"):
            replace_child(node, name, _going_on(child, in_loop=in_loop or isinstance(node, LOOPS)))
    return node
