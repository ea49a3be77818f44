"""`while` and `do` loops that count, as the `for` loops that they are."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import assigned_names, identifiers_in, stepped_name
from polysched.scop.c_frontend.declarations.written_loops import For, keyword_of, loop_text
from polysched.scop.c_frontend.parse import LOOPS, everything
from polysched.scop.c_frontend.rewrites.bodies import block, leaves, rewrite_bodies
from polysched.scop.c_frontend.rewrites.countdown import counted_down, one_less, replaced, touches
from polysched.scop.c_frontend.rewrites.endless import with_condition


def counted_loops(items: Sequence[c_ast.Node], before: Sequence[c_ast.Node] = ()) -> tuple[c_ast.Node, ...]:
    """Block items with their loops rewritten, in place below.

    Rewrite:  while (i < n) { S(i); i += 2; T(i); }   ->  for (; i < n; i += 2) { S(i); T(i + 2); }
    Rewrite:  while (i-- > 0) S(i);                   ->  { for (; i > 0; i--) S(i - 1); i--; }
    Rewrite:  i = n; while (--i >= 0) S(i);           ->  i = n; for (i = n - 1; i >= 0; i--) S(i);
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
        node.block_items = list(counted_loops(node.block_items or (), before))
        return node
    head = loop_text(node) if isinstance(node, LOOPS) else ""
    known = before if isinstance(node, c_ast.If) and not _has_effect(node.cond) else ()
    rewrite_bodies(node, lambda below: (_rewritten(below, known),))
    loop = with_condition(node)
    made: c_ast.Node | None = None
    if isinstance(loop, c_ast.While):
        made = _countdown(loop) or _stepped_first(loop, before) or _counted(loop, loop.cond)
    elif isinstance(loop, c_ast.DoWhile):
        made = _do(_stepping_last(loop), before)
    elif isinstance(loop, c_ast.For):
        made = loop
    if made is not None and made is not loop:
        _name(made, keyword_of(node) or "", head)
    return made or node


def _name(made: c_ast.Node, keyword: str, head: str) -> None:
    """Tell a loop how it stands in the text, or its head to the one in a block, which is only a part of it."""
    if isinstance(made, For):
        made.keyword = keyword
    for part in (made, *block(made)):
        if isinstance(part, For) and not part.head:
            part.head = head


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
    return For(None, test, step, c_ast.Compound([*front, *behind], node.stmt.coord), node.coord)


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
    loop = For(None, c_ast.BinaryOp(operator, c_ast.ID(name, coord), zero, coord), step,
               replaced(node.stmt, name, one_less(name, coord)), node.coord)
    return c_ast.Compound([loop, copy.deepcopy(step)], node.coord)


def _tested_step(node: c_ast.Node) -> c_ast.UnaryOp | None:
    """The step that a comparison makes ahead of it, as in `--i >= 0`, where that is all it does."""
    for side, other in ((node.left, node.right), (node.right, node.left)) if isinstance(node, c_ast.BinaryOp) else ():
        name = stepped_name(side)
        if isinstance(side, c_ast.UnaryOp) and side.op in ("++", "--") and name and node.op in (
                "<", "<=", ">", ">=", "!=") and name not in identifiers_in(other) and not _has_effect(other):
            return side
    return None


def _without_step(node: c_ast.BinaryOp, step: c_ast.UnaryOp) -> c_ast.BinaryOp:
    """The comparison behind the step."""
    left, right = (side.expr if side is step else side for side in (node.left, node.right))
    return c_ast.BinaryOp(node.op, copy.deepcopy(left), right, node.coord)


def _stepped_first(node: c_ast.While, before: Sequence[c_ast.Node]) -> c_ast.For | None:
    """`i = n; while (--i >= 0)` with an unchanged i in its body."""
    step = _tested_step(node.cond)
    name, start = _start(before)
    if step is None or stepped_name(step) != name or touches(node.stmt, name) or not _is_fixed(start, node.stmt, name):
        return None
    at = node.coord
    signed = c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["long"])), at)
    value = c_ast.Cast(signed, copy.deepcopy(start), at)   # an unsigned one would wrap where the counter does not
    first = c_ast.BinaryOp(step.op[0], value, c_ast.Constant("int", "1", at), at)
    init = c_ast.Assignment("=", c_ast.ID(name, at), first, at)
    return For(init, _without_step(node.cond, step), step, node.stmt, at)


def _stepping_last(node: c_ast.DoWhile) -> c_ast.DoWhile:
    """`do S(i); while (--i >= 0);` as `do { S(i); --i; } while (i >= 0);`; others as they are."""
    step = _tested_step(node.cond)
    if step is None or leaves(node.stmt, c_ast.Continue):
        return node
    body = c_ast.Compound([*block(node.stmt), step], node.stmt.coord)
    return c_ast.DoWhile(_without_step(node.cond, step), body, node.coord)


def _do(node: c_ast.DoWhile, before: Sequence[c_ast.Node]) -> c_ast.Node | None:
    """A `do` loop behind the statement that says where its counter starts."""
    name, start = _start(before)
    if not _is_fixed(start, node.stmt, name):
        return None
    first = c_ast.BinaryOp("==", c_ast.ID(name, node.coord), copy.deepcopy(start), node.coord)
    made = _counted(node, c_ast.BinaryOp("||", first, node.cond, node.coord))
    return made if made is not None and stepped_name(made.next) == name else None


def _start(before: Sequence[c_ast.Node]) -> tuple[str, c_ast.Node | None]:
    """The variable that the last statement in front sets, and its value; None for other statements."""
    return set_by(before[-1] if before else None)


def set_by(last: c_ast.Node | None) -> tuple[str, c_ast.Node | None]:
    """The variable that a statement sets, and its value; none and None for other statements."""
    if isinstance(last, c_ast.Decl) and last.name:
        return last.name, last.init
    if isinstance(last, c_ast.Assignment) and last.op == "=" and isinstance(last.lvalue, c_ast.ID):
        return last.lvalue.name, last.rvalue
    return "", None


def _is_fixed(start: c_ast.Node | None, body: c_ast.Node, counter: str) -> bool:
    """Whether a first value is the same all through a loop: it reads no memory and nothing that the body changes."""
    if start is None:
        return False
    plain = all(isinstance(n, c_ast.Constant | c_ast.ID | c_ast.BinaryOp)
                or (isinstance(n, c_ast.UnaryOp) and n.op in ("-", "+")) for n in everything(start))
    return plain and not identifiers_in(start) & ({counter} | set(assigned_names(body)))


def _has_effect(node: c_ast.Node) -> bool:
    return any(isinstance(n, c_ast.Assignment | c_ast.FuncCall) or stepped_name(n) for n in everything(node))
