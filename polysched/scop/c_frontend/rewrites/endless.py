"""Loops without a condition that leave by their first or last statement, as loops with one."""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import identifiers_in
from polysched.scop.c_frontend.parse import LOOPS
from polysched.scop.c_frontend.rewrites.bodies import block, leaves

_FLIPPED = {"==": "!=", "!=": "=="}
"""Comparisons whose negation is another one for every number; `<` is none for NaN."""


def with_condition(loop: c_ast.Node) -> c_ast.Node:
    """A loop with the condition that its body begins or ends with; other statements as they are.

    Rewrite:  while (1) { if (i >= n) break; S }              ->  while (!(i >= n)) { S }
    Rewrite:  for (i = 0;; i++) { if (i < n) S; else break; } ->  for (i = 0; i < n; i++) S
    Rewrite:  while (1) { S; if (i >= n) break; }             ->  do { S } while (!(i >= n));

    The last one only where S neither goes on with the next iteration by itself nor declares what the condition reads.
    """
    if not isinstance(loop, LOOPS) or not _is_endless(loop.cond):
        return loop
    body = block(loop.stmt)
    first = _leaving(body[0]) if body else None
    if first is not None:
        rest = c_ast.Compound([*_as_statements(first[1]), *body[1:]], loop.stmt.coord)
        return c_ast.For(loop.init, first[0], loop.next, rest, loop.coord) if _steps(loop) else \
            c_ast.While(first[0], rest, loop.coord)
    last = _leaving(body[-1]) if body and not _steps(loop) else None
    return loop if last is None or last[1] else _tested_last(loop, body, last[0])


def _steps(loop: c_ast.Node) -> bool:
    """Whether the loop has more than a condition in its head."""
    return isinstance(loop, c_ast.For) and not (loop.init is None and loop.next is None)


def _tested_last(loop: c_ast.Node, body: list[c_ast.Node], test: c_ast.Node) -> c_ast.Node:
    rest = c_ast.Compound(body[:-1], loop.stmt.coord)
    declared = {item.name for item in body if isinstance(item, c_ast.Decl)}
    if leaves(rest, c_ast.Continue) or identifiers_in(test) & declared:
        return loop
    return c_ast.DoWhile(test, rest, loop.coord)


def _is_endless(test: c_ast.Node | None) -> bool:
    """Whether a condition is left out, or a number other than zero."""
    return test is None or (isinstance(test, c_ast.Constant) and test.type == "int" and test.value.isdecimal()
                            and bool(int(test.value)))


def _leaving(node: c_ast.Node) -> tuple[c_ast.Node, list[c_ast.Node]] | None:
    """For `if (leave) break;` the condition to stay, and what runs then; None for other statements."""
    if not isinstance(node, c_ast.If):
        return None
    then, otherwise = block(node.iftrue), block(node.iffalse)
    if _is_break(then):
        return _negated(node.cond), otherwise
    return (node.cond, then) if _is_break(otherwise) else None


def _is_break(items: list[c_ast.Node]) -> bool:
    return len(items) == 1 and isinstance(items[0], c_ast.Break)


def _as_statements(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """What stands in a block, as part of the block around it: names that it declares stay its own."""
    declares = any(isinstance(item, (c_ast.Decl, c_ast.Typedef)) for item in items)
    return [c_ast.Compound(items, items[0].coord)] if declares else items


def _negated(test: c_ast.Node) -> c_ast.Node:
    """A condition that holds where another does not."""
    if isinstance(test, c_ast.UnaryOp) and test.op == "!":
        return test.expr
    if isinstance(test, c_ast.BinaryOp) and test.op in _FLIPPED:
        return c_ast.BinaryOp(_FLIPPED[test.op], test.left, test.right, test.coord)
    return c_ast.UnaryOp("!", test, test.coord)
