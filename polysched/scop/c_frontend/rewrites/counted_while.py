"""`while` and `do` loops that count, as the `for` loops that they are."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import assigned_names, identifiers_in, stepped_name
from polysched.scop.c_frontend.parse import everything
from polysched.scop.c_frontend.rewrites.bodies import block, leaves, rewrite_bodies
from polysched.scop.c_frontend.rewrites.countdown import counted_down, one_less, replaced, touches
from polysched.scop.c_frontend.rewrites.endless import with_condition


class For(c_ast.For):  # type: ignore[misc]
    """A `for` that stands in the text as another loop; syntax trees are walked by the names of classes."""

    keyword = "while"


class ForOfDo(For):
    """One that stands there as `do`."""

    keyword = "do"


class ForInside(For):
    """One that is only a part of what stands there, so that it can make no region."""

    keyword = ""


ForOfDo.__name__ = ForInside.__name__ = "For"


def keyword_of(node: c_ast.Node) -> str | None:
    """The word that a loop or condition begins with in the text; None for other statements."""
    if isinstance(node, For):
        return node.keyword
    return {c_ast.For: "for", c_ast.If: "if", c_ast.While: "while", c_ast.DoWhile: "do"}.get(type(node))


def counted_loops(items: Sequence[c_ast.Node], before: Sequence[c_ast.Node] = ()) -> tuple[c_ast.Node, ...]:
    """Block items with their loops rewritten, in place below.

    Rewrite:  while (i < n) { S(i); i += 2; T(i); }   ->  for (; i < n; i += 2) { S(i); T(i + 2); }
    Rewrite:  while (i-- > 0) S(i);                   ->  { for (; i > 0; i--) S(i - 1); i--; }
    Rewrite:  i = 0; do { S(i); i++; } while (i < n); ->  i = 0; for (; i == 0 || i < n; i++) S(i);

    A loop stays where its body has a `continue`, which would skip the step.

    Parameters
    ----------
    before : the statements of the block in front of the items, which say where a counter starts.
    """
    made: list[c_ast.Node] = []
    for item in items:
        made.append(_rewritten(item, (*before, *made)))
    return tuple(made)


def _rewritten(node: c_ast.Node, before: Sequence[c_ast.Node]) -> c_ast.Node:
    if isinstance(node, c_ast.Compound):
        node.block_items = list(counted_loops(node.block_items or ()))
        return node
    rewrite_bodies(node, lambda below: (_rewritten(below, ()),))
    loop = with_condition(node)
    made: c_ast.Node | None = None
    if isinstance(loop, c_ast.While):
        made = _countdown(loop) or _counted(loop, loop.cond)
    elif isinstance(loop, c_ast.DoWhile):
        made = _do(loop, before)
    elif isinstance(loop, c_ast.For):
        made = loop
    if isinstance(made, For) and made.keyword:
        made.keyword = keyword_of(node) or ""
    return made or node


def _counted(node: c_ast.While | c_ast.DoWhile, test: c_ast.Node) -> c_ast.For | None:
    """The loop whose body steps one variable of the condition, once."""
    body = block(node.stmt)
    tested = identifiers_in(node.cond)
    steps = [at for at, item in enumerate(body) if stepped_name(item) in tested]
    if len(steps) != 1 or _has_effect(node.cond) or leaves(node.stmt, c_ast.Continue):
        return None
    step, front, behind = body[steps[0]], body[:steps[0]], body[steps[0] + 1:]
    counter = str(stepped_name(step))
    if any(touches(item, counter) for item in (*front, *behind)):
        return None
    if any(counter in identifiers_in(item) or leaves(item, c_ast.Break) for item in behind):
        after = _after_step(step, counter)
        if after is None or any(leaves(item, c_ast.Break) for item in behind):
            return None   # `break` leaves a counter that has been stepped
        behind = [replaced(copy.deepcopy(item), counter, after) for item in behind]
    made = ForOfDo if isinstance(node, c_ast.DoWhile) else For
    return made(None, test, step, c_ast.Compound([*front, *behind], node.stmt.coord), node.coord)


def _after_step(step: c_ast.Node, counter: str) -> c_ast.Node | None:
    """The counter's next value, where it is stepped by a constant."""
    at = step.coord
    if isinstance(step, c_ast.UnaryOp):
        amount: c_ast.Node = c_ast.Constant("int", "1", at)
        op = "+" if "++" in step.op else "-"
    elif step.op in ("+=", "-=") and isinstance(step.rvalue, c_ast.Constant):
        amount, op = step.rvalue, step.op[0]
    elif (step.op == "=" and isinstance(step.rvalue, c_ast.BinaryOp) and step.rvalue.op in ("+", "-")
          and isinstance(step.rvalue.left, c_ast.ID) and step.rvalue.left.name == counter
          and isinstance(step.rvalue.right, c_ast.Constant)):
        amount, op = step.rvalue.right, step.rvalue.op
    else:
        return None
    return c_ast.BinaryOp(op, c_ast.ID(counter, at), amount, at)


def _countdown(node: c_ast.While) -> c_ast.Node | None:
    """`while (i-- > 0)` with an unchanged i in its body."""
    test = node.cond.left if isinstance(node.cond, c_ast.BinaryOp) else node.cond
    name = stepped_name(test)
    tested = None if name is None else counted_down(node.cond, name)
    if name is None or tested is None or touches(node.stmt, name) or leaves(node.stmt, c_ast.Break):
        return None
    operator, coord = tested
    zero, step = c_ast.Constant("int", "0", coord), c_ast.UnaryOp("p--", c_ast.ID(name, coord), coord)
    loop = ForInside(None, c_ast.BinaryOp(operator, c_ast.ID(name, coord), zero, coord), step,
                     replaced(node.stmt, name, one_less(name, coord)), node.coord)
    return c_ast.Compound([loop, copy.deepcopy(step)], node.coord)


def _do(node: c_ast.DoWhile, before: Sequence[c_ast.Node]) -> c_ast.Node | None:
    """A `do` loop behind the statement that says where its counter starts."""
    last = before[-1] if before else None
    start = last.init if isinstance(last, c_ast.Decl) else last.rvalue if (
        isinstance(last, c_ast.Assignment) and last.op == "=" and isinstance(last.lvalue, c_ast.ID)) else None
    name = last.name if isinstance(last, c_ast.Decl) else getattr(getattr(last, "lvalue", None), "name", None)
    if start is None or name is None or not _is_fixed(start, node.stmt, name):
        return None
    first = c_ast.BinaryOp("==", c_ast.ID(name, node.coord), copy.deepcopy(start), node.coord)
    made = _counted(node, c_ast.BinaryOp("||", first, node.cond, node.coord))
    return made if made is not None and stepped_name(made.next) == name else None


def _is_fixed(start: c_ast.Node, body: c_ast.Node, counter: str) -> bool:
    """Whether a first value is the same all through a loop: it reads no memory and nothing that the body changes."""
    plain = all(isinstance(n, c_ast.Constant | c_ast.ID | c_ast.BinaryOp) for n in everything(start))
    return plain and not identifiers_in(start) & ({counter} | set(assigned_names(body)))


def _has_effect(node: c_ast.Node) -> bool:
    return any(isinstance(n, c_ast.Assignment | c_ast.FuncCall) or stepped_name(n) for n in everything(node))
