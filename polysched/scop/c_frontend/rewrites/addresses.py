"""`(&v)[0]`, `*&v` and `(&v)->m`, which inlining makes of pointer parameters, as `v` and `v.m` (C11 6.5.3.2p3).

Without this, whoever asks which variables a region assigns would not see that these assign `v`.
"""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.parse import replace_child


def without_idle_addresses(node: c_ast.Node) -> c_ast.Node:
    """The subtree, rewritten in place, with nothing dereferenced whose address was just taken."""
    for key, child in node.children():
        if (new := without_idle_addresses(child)) is not child:
            replace_child(node, key, new)
    if isinstance(node, c_ast.UnaryOp) and node.op == "*" and _is_address(node.expr):
        return node.expr.expr
    if isinstance(node, c_ast.ArrayRef) and _is_address(node.name) and _is_zero(node.subscript):
        return node.name.expr
    if isinstance(node, c_ast.StructRef) and node.type == "->" and _is_address(node.name):
        node.name, node.type = node.name.expr, "."
    return node


def _is_address(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "&"


def _is_zero(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.value == "0"
