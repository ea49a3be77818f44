"""Calls of the file's functions inside expressions, ahead of the statement that uses their values.

    s = 1 + dot(n, x, y) / 2;   ->  T value; { BODY of dot, with `value = e` for `return e` } s = 1 + value / 2;
    if (dot(n, x, y) > 0) S     ->  T value; { ... } if (value > 0) S

Only calls that C evaluates whatever else the statement computes, in an expression without other effects, and of
functions that change nothing but their own variables: then their place among the operands, which C leaves open
(C11 6.5.2.2), changes no value.  What is evaluated on a condition (behind `&&`, `||`, `?`) stays, and so do the heads
of loops.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence, Set
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.body import OF_PARTS
from polysched.scop.c_frontend.declarations.bindings import function_parameters
from polysched.scop.c_frontend.functions import MATH
from polysched.scop.c_frontend.parse import everything, is_step, replace_child
from polysched.scop.c_frontend.rewrites.inline import Inliner

_FIRST_OPERAND_ONLY = ("&&", "||")


@dataclass(frozen=True)
class EarlyCalls:
    """Rewrites the calls that `Inliner` left.

    Parameters
    ----------
    inliner : makes the blocks and the names.
    harmless : what is known of functions: whether they assign to their own variables only.
    """

    inliner: Inliner
    harmless: dict[str, bool] = field(default_factory=dict)

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items, each behind the calls that it needs."""
        return tuple(made for node in nodes for made in self._behind_calls(node))

    def _behind_calls(self, node: c_ast.Node) -> tuple[c_ast.Node, ...]:
        if isinstance(node, c_ast.Compound):
            node.block_items = list(self.statements(node.block_items or ()))
            return (node,)
        for name, child in node.children():
            if name in ("stmt", "iftrue", "iffalse"):
                made = self._behind_calls(child)
                replace_child(node, name, made[0] if len(made) == 1 else c_ast.Compound(list(made), child.coord))
        return (*(part for place in _places(node) for part in self._early(node, place)), node)

    def _early(self, node: c_ast.Node, place: str) -> Iterator[c_ast.Node]:
        """What computes the calls in one expression of a statement, whose values take their places."""
        expression = getattr(node, place)
        if expression is None or any(isinstance(n, c_ast.Assignment) or is_step(n) for n in everything(expression)):
            return
        holder = c_ast.Cast(None, expression)
        for parent, name, call in list(_always(holder, "expr", expression)):
            made = self._made(call)
            if made is not None:
                value, parts = made
                replace_child(parent, name, c_ast.ID(value, call.coord))
                yield from parts
        setattr(node, place, holder.expr)

    def _made(self, call: c_ast.FuncCall) -> tuple[str, tuple[c_ast.Node, ...]] | None:
        """The variable of a call's value, and the statements that set it; None where it cannot be inlined."""
        function = self.inliner.functions.get(call.name.name) if isinstance(call.name, c_ast.ID) else None
        returned = None if function is None else function.decl.type.type
        if (function is None or not isinstance(returned, c_ast.TypeDecl) or call.name.name in self.inliner.keep
                or not self._is_harmless(call)):
            return None
        name = self.inliner.fresh("value")
        kind = copy.deepcopy(returned)
        kind.declname, kind.quals = name, []
        declaration = c_ast.Decl(name, [], [], [], [], kind, copy.deepcopy(call), None, call.coord)
        parts = self.inliner.made_of(declaration)
        if len(parts) == 1:
            return None
        self.inliner.open_calls.append(call.name.name)
        parts = self.statements(parts)
        self.inliner.open_calls.pop()
        return (name, parts) if self.inliner.fits(call.name.name, parts) else None

    def _changes_only_its_own(self, function: c_ast.FuncDef) -> bool:
        """Whether a function, and what it calls, assigns to its own variables only."""
        own = {p.name for p in function_parameters(function)}
        arrays: set[str] = set()
        for node in everything(function.body):
            if isinstance(node, c_ast.Decl) and not node.storage:
                (arrays if isinstance(node.type, c_ast.ArrayDecl) else own).add(node.name)
        return all(_is_own(target, own, arrays) for target in _targets(function.body)) and all(
            self._is_harmless(call) for call in everything(function.body) if isinstance(call, c_ast.FuncCall))

    def _is_harmless(self, call: c_ast.FuncCall) -> bool:
        """Whether a call changes no variable of its caller; of functions that call themselves, none is."""
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        if name not in self.inliner.functions:
            return name in MATH or name == OF_PARTS or name in self.inliner.keep
        if name not in self.harmless:
            self.harmless[name] = False   # while it is looked at, so that it is no function that calls itself
            self.harmless[name] = self._changes_only_its_own(self.inliner.functions[name])
        return self.harmless[name]


def _targets(body: c_ast.Node) -> Iterator[c_ast.Node]:
    """What the assignments and steps below a node change."""
    for node in everything(body):
        if isinstance(node, c_ast.Assignment):
            yield node.lvalue
        elif is_step(node):
            yield node.expr


def _is_own(target: c_ast.Node, own: Set[str], arrays: Set[str]) -> bool:
    """Whether a target is one of these variables, or an element of one of these arrays."""
    if isinstance(target, c_ast.ID):
        return target.name in own
    while isinstance(target, c_ast.ArrayRef):
        target = target.name
    return isinstance(target, c_ast.ID) and target.name in arrays


def _places(node: c_ast.Node) -> tuple[str, ...]:
    """The expressions of a statement that are evaluated once, ahead of all else."""
    if isinstance(node, c_ast.Assignment):
        return ("lvalue", "rvalue")
    if isinstance(node, c_ast.Decl) and not isinstance(node.init, c_ast.InitList):
        return ("init",)
    return ("cond",) if isinstance(node, c_ast.If) else ()


def _always(parent: c_ast.Node, name: str, node: c_ast.Node) -> Iterator[tuple[c_ast.Node, str, c_ast.FuncCall]]:
    """The calls that are evaluated whatever the others give, with their places; inner ones first."""
    children = list(node.children())
    if isinstance(node, c_ast.TernaryOp) or (isinstance(node, c_ast.BinaryOp) and node.op in _FIRST_OPERAND_ONLY):
        children = children[:1]
    if isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof", "&"):
        children = []
    for below, child in children:
        if not isinstance(node, c_ast.FuncCall) or below != "name":
            yield from _always(node, below, child)
    if isinstance(node, c_ast.FuncCall):
        yield parent, name, node
