"""The body of a function without `return`: what follows one stands under the opposite condition."""

from __future__ import annotations

import copy

from pycparser import c_ast

from polysched.scop.c_frontend.parse import copied, everything, is_step, replace_child
from polysched.scop.c_frontend.rewrites.bodies import BODIES, block
from polysched.scop.c_frontend.rewrites.switches import without_switches


def body_of(function: c_ast.FuncDef) -> list[c_ast.Node]:
    """The statements of a function, with conditions for a `switch`."""
    items = list(function.body.block_items or [])
    if any(isinstance(n, c_ast.Switch) for n in everything(function.body)):
        items = list(without_switches(copied(items)))
    return items


def returns_nothing(function: c_ast.FuncDef) -> bool:
    result = function.decl.type.type
    names = getattr(getattr(result, "type", None), "names", None)
    return isinstance(result, c_ast.TypeDecl) and names == ["void"]


def with_result(node: c_ast.Node, result: str | None) -> c_ast.Node:
    """A copy of a statement with `{ result = e; return; }` for `return e`; what has an effect stays."""
    if isinstance(node, c_ast.Return) and node.expr is not None:
        end = c_ast.Return(None, node.coord)
        if result is None:
            return node if has_effect(node.expr) or _calls(node.expr) else end
        return c_ast.Compound([c_ast.Assignment("=", c_ast.ID(result, node.coord), node.expr, node.coord), end],
                              node.coord)
    made = copy.copy(node)
    for name, child in node.children():
        if name in BODIES or name.startswith("block_items"):
            replace_child(made, name, with_result(child, result))
    return made


def without_returns(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """Statements that return nothing, with what a `return` skips under the opposite condition.

    Rewrite:  if (c) return; rest                     ->   if (!c) { rest }
    Rewrite:  if (c) { S return; } else T rest        ->   if (c) { S } else { T rest }
    Rewrite:  if (c) S else { T return; } rest        ->   if (c) { S rest } else { T }
    """
    items = _opened(items)
    for at, item in enumerate(items):
        if isinstance(item, c_ast.Return) and item.expr is None:
            return items[:at]
        if isinstance(item, c_ast.Compound) and at == len(items) - 1:
            return [*items[:at], c_ast.Compound(without_returns(block(item)), item.coord)]
        if isinstance(item, c_ast.If) and not has_effect(item.cond):
            then, other, rest = _opened(block(item.iftrue)), _opened(block(item.iffalse)), items[at + 1:]
            if _returns(then) or (item.iffalse is not None and not rest):
                return [*items[:at], _either(item, without_returns(then), _behind(other, rest))]
            if _returns(other):
                return [*items[:at], _either(item, _behind(then, rest), without_returns(other))]
    return items


def _returns(items: list[c_ast.Node]) -> bool:
    return bool(items) and isinstance(items[-1], c_ast.Return) and items[-1].expr is None


def _behind(items: list[c_ast.Node], rest: list[c_ast.Node]) -> list[c_ast.Node]:
    """A branch and what follows the choice, without `return`; names that the branch declares end with it."""
    if rest and any(isinstance(item, c_ast.Decl | c_ast.Typedef) for item in items):
        items = [c_ast.Compound(items, items[0].coord)]
    return without_returns([*items, *rest])


def _opened(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """Statements with those of a block in its place where it ends with a `return` and declares nothing."""
    return [part for item in items for part in (block(item) if _ends(item) else [item])]


def _either(choice: c_ast.If, then: list[c_ast.Node], other: list[c_ast.Node]) -> c_ast.If:
    """Statements under the condition of a choice, if there are any, and others under the opposite one."""
    if not then:
        return c_ast.If(c_ast.UnaryOp("!", choice.cond, choice.coord), c_ast.Compound(other, choice.coord), None,
                        choice.coord)
    return c_ast.If(choice.cond, c_ast.Compound(then, choice.coord),
                    c_ast.Compound(other, choice.coord) if other else None, choice.coord)


def _ends(node: c_ast.Node) -> bool:
    """Whether a block ends with a `return` and declares nothing."""
    items = block(node)
    return (isinstance(node, c_ast.Compound) and bool(items) and isinstance(items[-1], c_ast.Return)
            and not any(isinstance(item, c_ast.Decl) for item in items))


def jumps(items: list[c_ast.Node]) -> bool:
    """Whether control may go elsewhere than to the end of the statements."""
    return any(isinstance(n, c_ast.Return | c_ast.Goto | c_ast.Label) for i in items for n in everything(i))


def has_effect(node: c_ast.Node) -> bool:
    return any(isinstance(n, c_ast.Assignment) or is_step(n) for n in everything(node))


def _calls(node: c_ast.Node) -> bool:
    return any(isinstance(n, c_ast.FuncCall) for n in everything(node))
