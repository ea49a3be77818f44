"""`for (size_t i = n; i-- > 0;)`: the usual way to count down without a sign, as a loop that counts in its head."""

from __future__ import annotations

import copy

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import addressed_names, assigned_names
from polysched.scop.c_frontend.parse import everything, replace_child


def plain_countdowns(node: c_ast.Node) -> None:
    """Rewrite a subtree in place.

    Rewrite:  for (T i = E; i-- > 0;) S(i)  ->  for (T i = E; i > 0; i--) S(i - 1)

    Only where the loop declares i, so that nobody sees that it ends at 0 instead of -1, and where S neither changes
    nor hides it.  The condition may also be `i--` or `i-- != 0`: these differ for a negative E, so they need
    an unsigned T to end at all, and become `i != 0`.
    """
    for below in everything(node):
        if isinstance(below, c_ast.For) and below.next is None and (name := _declared(below)) is not None:
            tested = counted_down(below.cond, name)
            if tested is not None and not touches(below.stmt, name):
                operator, coord = tested
                below.cond = c_ast.BinaryOp(operator, c_ast.ID(name, coord), c_ast.Constant("int", "0", coord), coord)
                below.next = c_ast.UnaryOp("p--", c_ast.ID(name, coord), coord)
                below.stmt = replaced(below.stmt, name, one_less(name, coord))


def _declared(node: c_ast.For) -> str | None:
    if isinstance(node.init, c_ast.DeclList) and len(node.init.decls) == 1 and node.init.decls[0].init is not None:
        name: str = node.init.decls[0].name
        return name
    return None


def counted_down(node: c_ast.Node | None, name: str) -> tuple[str, object] | None:
    """The comparison with 0 that a condition makes before it counts down, and where it stands."""
    operator = "!="
    if isinstance(node, c_ast.BinaryOp) and node.op in (">", "!=") and _is_zero(node.right):
        operator, node = node.op, node.left
    counts = isinstance(node, c_ast.UnaryOp) and node.op == "p--" and isinstance(node.expr, c_ast.ID)
    return (operator, node.coord) if node is not None and counts and node.expr.name == name else None


def _is_zero(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.value in ("0", "0u", "0U")


def touches(body: c_ast.Node | None, name: str) -> bool:
    """Whether a body changes, hides or points to a variable, or asks for its size."""
    if body is None:
        return False
    hidden = any(isinstance(n, c_ast.Decl) and n.name == name for n in everything(body))
    asked = any(isinstance(n, c_ast.UnaryOp) and n.op == "sizeof" for n in everything(body))
    return hidden or asked or name in assigned_names(body) or name in addressed_names(body)


def replaced(node: c_ast.Node, name: str, value: c_ast.Node) -> c_ast.Node:
    """The subtree with an expression for a variable, in place below."""
    if isinstance(node, c_ast.ID):
        return copy.deepcopy(value) if node.name == name else node
    for key, child in node.children():
        if isinstance(node, c_ast.StructRef) and key == "field":
            continue
        if (new := replaced(child, name, value)) is not child:
            replace_child(node, key, new)
    return node


def one_less(name: str, coord: object) -> c_ast.Node:
    """`i - 1`."""
    return c_ast.BinaryOp("-", c_ast.ID(name, coord), c_ast.Constant("int", "1", coord), coord)
