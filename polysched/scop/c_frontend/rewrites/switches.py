"""`switch` as a chain of conditions, where no case goes on into the next one."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import reduce

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import identifiers_in
from polysched.scop.c_frontend.declarations.literals import integer_constant
from polysched.scop.c_frontend.parse import everything, is_step
from polysched.scop.c_frontend.rewrites.bodies import leaves, rewrite_bodies
from polysched.scop.dtypes import INT32
from polysched.scop.limits import LIMITS

MOST_CASES = LIMITS.switch_cases
_LABELS = (c_ast.Case, c_ast.Default)


@dataclass(frozen=True)
class _Group:
    """Cases with one body; `labels` of `case` and whether `default` is among them."""

    labels: tuple[c_ast.Node, ...]
    is_default: bool
    body: tuple[c_ast.Node, ...]


def without_switches(items: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
    """The block items, in place below.

    Rewrite:  switch (e) { case 1: case 2: S; break; default: D; }  ->  if (e == 1 || e == 2) { S } else { D }

    That takes a value that may be looked at several times, labels that are numbers of an int or names of them, and
    cases that end in `break`, `continue` or `return`, with no other `break` and without declarations that other cases
    see (C11 6.8.4.2); no more than `MOST_CASES` of them.
    """
    return tuple(made for item in items for made in _made_of(item))


def _made_of(node: c_ast.Node) -> tuple[c_ast.Node, ...]:
    if isinstance(node, c_ast.Compound):
        node.block_items = list(without_switches(node.block_items or ()))
        return (node,)
    if isinstance(node, c_ast.Switch):
        return (_chain(node) or node,)
    rewrite_bodies(node, _made_of)
    return (node,)


def _chain(node: c_ast.Switch) -> c_ast.Node | None:
    """The conditions that a `switch` stands for; None where it is none."""
    cases = node.stmt.block_items or [] if isinstance(node.stmt, c_ast.Compound) else [node.stmt]
    if not 0 < len(cases) <= MOST_CASES or not all(isinstance(case, _LABELS) for case in cases):
        return None
    for case in cases:
        case.stmts = list(without_switches(case.stmts or []))
    groups = _groups(cases)
    labels = [label for group in groups or () for label in group.labels]
    return _conditions(node, groups) if groups and _is_plain(node.cond) and all(map(_is_number, labels)) else None


def _conditions(node: c_ast.Switch, groups: Sequence[_Group]) -> c_ast.Node | None:
    """Conditions in the order of the cases; the default is behind them."""
    made = next((c_ast.Compound(list(g.body), node.coord) for g in groups if g.is_default), None)
    for group in reversed([g for g in groups if not g.is_default]):
        tests = [c_ast.BinaryOp("==", copy.deepcopy(node.cond), label, label.coord) for label in group.labels]
        test = reduce(lambda left, right: c_ast.BinaryOp("||", left, right, right.coord), tests)
        made = c_ast.If(test, c_ast.Compound(list(group.body), node.coord), made, node.coord)
    return made


def _groups(cases: Sequence[c_ast.Node]) -> list[_Group] | None:
    """The bodies and their cases; None where one goes on into another, is left early or declares what others see."""
    found: list[_Group] = []
    ahead: list[c_ast.Node] = []
    for at, case in enumerate(cases):
        ahead.append(case)
        if not case.stmts and at + 1 < len(cases):
            continue
        body = _without_break(case.stmts or [], is_last=at + 1 == len(cases))
        if body is None or any(leaves(item, c_ast.Break) or _holds_labels(item) for item in body):
            return None
        found.append(_Group(tuple(c.expr for c in ahead if isinstance(c, c_ast.Case)),
                            any(isinstance(c, c_ast.Default) for c in ahead), tuple(body)))
        ahead = []
    return None if _shares_declarations(found) else found


def _without_break(body: list[c_ast.Node], *, is_last: bool) -> list[c_ast.Node] | None:
    """A case's statements without the `break` at their end; None where they may go on into another case."""
    if body and isinstance(body[-1], c_ast.Break):
        return body[:-1]
    if body and isinstance(body[-1], c_ast.Compound) and isinstance((body[-1].block_items or [None])[-1], c_ast.Break):
        return [*body[:-1], c_ast.Compound(body[-1].block_items[:-1], body[-1].coord)]
    return body if is_last or (body and _goes_elsewhere(body[-1])) else None


def _goes_elsewhere(node: c_ast.Node) -> bool:
    """Whether control never reaches the end of a statement, and leaves more than the `switch`."""
    if isinstance(node, c_ast.Compound):
        return bool(node.block_items) and _goes_elsewhere(node.block_items[-1])
    if isinstance(node, c_ast.If):
        return node.iffalse is not None and _goes_elsewhere(node.iftrue) and _goes_elsewhere(node.iffalse)
    return isinstance(node, c_ast.Return | c_ast.Continue)


def _holds_labels(node: c_ast.Node) -> bool:
    """Whether a statement holds a case of the `switch` around it, or a label that something may jump to."""
    if isinstance(node, (*_LABELS, c_ast.Label)):
        return True
    return not isinstance(node, c_ast.Switch) and any(_holds_labels(child) for _, child in node.children())


def _shares_declarations(groups: Sequence[_Group]) -> bool:
    """Whether a body declares a name, of which one that is not inside it would see the declaration."""
    for at, group in enumerate(groups[:-1]):
        declared = {item.name for item in group.body if isinstance(item, c_ast.Decl)}
        if any(map(_defines_types, group.body)) or any(
                declared & identifiers_in(item) for later in groups[at + 1:] for item in later.body):
            return True
    return False


def _defines_types(item: c_ast.Node) -> bool:
    """Whether a statement names types, or constants of an enumeration, as labels and bodies behind it may."""
    return any(isinstance(n, c_ast.Typedef) or (isinstance(n, c_ast.Enum) and n.values is not None)
               or (isinstance(n, c_ast.Struct | c_ast.Union) and n.decls is not None) for n in everything(item))


def _is_plain(value: c_ast.Node) -> bool:
    """Whether an expression may be evaluated again: it changes nothing and calls nothing."""
    return not any(isinstance(n, c_ast.Assignment | c_ast.FuncCall | c_ast.ExprList) or is_step(n)
                   for n in everything(value))


def _is_number(label: c_ast.Node) -> bool:
    """Whether a label is a number that an int holds, or a name of one: conversions then do not change it."""
    if isinstance(label, c_ast.UnaryOp) and label.op == "-":
        label = label.expr
    if isinstance(label, c_ast.ID):
        return True
    if not isinstance(label, c_ast.Constant) or label.type not in ("int", "char"):
        return False
    value = integer_constant(label)
    return label.type == "char" or (value is not None and value <= INT32.value_range()[1])
