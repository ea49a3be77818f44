"""Calls of small functions of the same file, replaced by what they compute.

A function whose body only chooses between returned expressions becomes an expression; one without a
result, called as a statement, becomes a block.  Parameters that the function changes, and those of
statements, become local variables; the others are replaced by their arguments.  Every name of the
callee is made new, so nothing of the caller is captured.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from polysched.scop.c_frontend.bindings import addressed_names, assigned_names, function_parameters, identifiers_in
from polysched.scop.c_frontend.parse import everything, replace_child

MOST_NODES = 400
MOST_NODES_INLINED = 4000


@dataclass
class Inliner:
    """Rewrites the calls of a region.

    Parameters
    ----------
    functions : the definitions of the file, by name.
    keep : functions that stay calls: those that are declared pure.
    taken : names that a new name must avoid.
    shadowed : names that mean something else at the region than at file scope.
    """

    functions: dict[str, c_ast.FuncDef]
    keep: frozenset[str]
    taken: set[str]
    shadowed: frozenset[str]
    open_calls: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items with every call inlined that can be."""
        return tuple(self.rewrite(n) for n in nodes)

    def rewrite(self, node: c_ast.Node) -> c_ast.Node:
        """A subtree with its calls inlined, in place; calls that cannot be inlined stay."""
        for name, child in node.children():
            new = self.rewrite(child)
            if new is not child:
                replace_child(node, name, new)
        if isinstance(node, c_ast.FuncCall):
            return self.call(node) or node
        return node

    def call(self, node: c_ast.FuncCall) -> c_ast.Node | None:
        """What a call computes; None when the function cannot be inlined."""
        function = self.functions.get(node.name.name) if isinstance(node.name, c_ast.ID) else None
        if (function is None or node.name.name in self.keep or node.name.name in self.open_calls
                or sum(1 for _ in everything(function.body)) > MOST_NODES or self.captures(function)):
            return None
        arguments = list(node.args.exprs) if node.args else []
        parameters = function_parameters(function)
        if len(arguments) != len(parameters) or any(_has_effect(a) for a in arguments):
            return None
        result = _Callee(self, function, parameters, arguments, node).inlined()
        if result is None or sum(1 for _ in everything(result)) > MOST_NODES_INLINED:
            return None
        self.open_calls.append(node.name.name)
        result = self.rewrite(result)
        self.open_calls.pop()
        recursive = any(isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name == node.name.name
                        for n in everything(result))
        return None if recursive else result

    def captures(self, function: c_ast.FuncDef) -> bool:
        """Whether a global name of the function means something else at the region."""
        own = {p.name for p in function_parameters(function)}
        own |= {n.name for n in everything(function.body) if isinstance(n, c_ast.Decl)}
        return bool((identifiers_in(function.body) - own) & self.shadowed)

    def fresh(self, wanted: str) -> str:
        """A name that nothing has."""
        while True:
            self.counts[wanted] = self.counts.get(wanted, 0) + 1
            name = f"{wanted}_in{self.counts[wanted]}"
            if name not in self.taken:
                self.taken.add(name)
                return name


@dataclass
class _Callee:
    inliner: Inliner
    function: c_ast.FuncDef
    parameters: tuple[c_ast.Decl, ...]
    arguments: list[c_ast.Node]
    call: c_ast.FuncCall
    values: dict[str, c_ast.Node] = field(default_factory=dict)

    def inlined(self) -> c_ast.Node | None:
        """The body as an expression where the function returns a value, else as a block."""
        body = list(self.function.body.block_items or [])
        changed = frozenset(assigned_names(self.function.body)) | frozenset(addressed_names(self.function.body))
        if _returns_nothing(self.function):
            return self.block(body, changed)
        if any(p.name in changed for p in self.parameters):
            return None
        for parameter, argument in zip(self.parameters, self.arguments, strict=True):
            self.values[parameter.name] = self.converted(parameter.type, argument)
        value = self.expression(body, changed)
        return None if value is None else self.converted(self.function.decl.type.type, value)

    def expression(self, items: list[c_ast.Node], changed: frozenset[str]) -> c_ast.Node | None:
        """The value that a list of statements returns: declarations of constants, `if`, and `return`."""
        for at, item in enumerate(items):
            if isinstance(item, c_ast.Decl) and item.init is not None and item.name not in changed and _is_scalar(item):
                self.values[item.name] = self.converted(item.type, self.substituted(item.init))
            elif isinstance(item, c_ast.Return) and item.expr is not None:
                return None if _has_effect(item.expr) else self.substituted(item.expr)
            elif isinstance(item, c_ast.If) and not _has_effect(item.cond):
                rest = items[at + 1:]
                saved = dict(self.values)
                condition = self.substituted(item.cond)
                then = self.expression([*_block(item.iftrue), *rest], changed)
                self.values = dict(saved)
                otherwise = self.expression([*_block(item.iffalse), *rest], changed)
                self.values = saved
                if then is None or otherwise is None:
                    return None
                return c_ast.TernaryOp(condition, then, otherwise, self.call.coord)
            elif not isinstance(item, c_ast.Pragma | c_ast.EmptyStatement):
                return None
        return None

    def block(self, items: list[c_ast.Node], changed: frozenset[str]) -> c_ast.Node | None:
        """The body as a block, with its own names made new."""
        items = _without_returns(items)
        if any(isinstance(n, c_ast.Return | c_ast.Goto | c_ast.Label) for i in items for n in everything(i)):
            return None
        heads: list[c_ast.Node] = []
        moved = {name for i in items for name in (*assigned_names(i), *_addressed_itself(i))}
        for parameter, argument in zip(self.parameters, self.arguments, strict=True):
            if _is_scalar(parameter) and parameter.name not in changed and _is_fixed(argument, changed):
                self.values[parameter.name] = self.converted(parameter.type, argument)
            elif _is_scalar(parameter):
                name = self.inliner.fresh(parameter.name)
                declaration = copy.deepcopy(parameter)
                _rename_declaration(declaration, name)
                declaration.init = argument
                heads.append(declaration)
                self.values[parameter.name] = c_ast.ID(name, self.call.coord)
            elif parameter.name in moved:
                return None
            else:
                self.values[parameter.name] = self.pointer(parameter.type, argument)
        for item in items:
            for node in everything(item):
                if isinstance(node, c_ast.Decl) and node.name is not None:
                    self.values[node.name] = c_ast.ID(self.inliner.fresh(node.name), self.call.coord)
        return c_ast.Compound([*heads, *(self.substituted(i) for i in items)], self.call.coord)

    def substituted(self, node: c_ast.Node) -> c_ast.Node:
        """A copy with the callee's names replaced."""
        if isinstance(node, c_ast.ID):
            return copy.deepcopy(self.values.get(node.name, node))
        made = copy.copy(node)
        if isinstance(node, c_ast.Decl) and node.name in self.values:
            new = self.values[node.name]
            made.type = copy.deepcopy(node.type)
            if isinstance(new, c_ast.ID):
                _rename_declaration(made, new.name)
        for name, child in node.children():
            if isinstance(node, c_ast.StructRef) and name == "field":
                continue
            if isinstance(node, c_ast.FuncCall) and name == "name":
                continue
            if isinstance(node, c_ast.Decl) and name == "type":
                continue
            replace_child(made, name, self.substituted(child))
        return made

    def converted(self, declarator: c_ast.Node, value: c_ast.Node) -> c_ast.Node:
        """The value converted to the type of a declarator."""
        if not isinstance(declarator, c_ast.TypeDecl):
            return self.pointer(declarator, value)
        made = copy.deepcopy(declarator)
        made.declname, made.quals = None, []
        return c_ast.Cast(c_ast.Typename(None, [], None, made, value.coord), value, value.coord)

    def pointer(self, declarator: c_ast.Node, value: c_ast.Node) -> c_ast.Node:
        """An array argument as the parameter sees it: rows of the declared length, by a cast that changes nothing
        where the caller's array has rows of the same length."""
        inner = declarator.type
        if not isinstance(inner, c_ast.ArrayDecl):
            return value
        rows = self.substituted(inner)
        _clear_name(rows)
        return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.PtrDecl([], rows, value.coord), value.coord), value,
                          value.coord)


def _clear_name(declarator: c_ast.Node) -> None:
    while not isinstance(declarator, c_ast.TypeDecl):
        declarator = declarator.type
    declarator.declname = None


def _addressed_itself(node: c_ast.Node) -> set[str]:
    """The variables whose own address is taken; the address of an element of an array leaves the array where it is."""
    return {n.expr.name for n in everything(node)
            if isinstance(n, c_ast.UnaryOp) and n.op == "&" and isinstance(n.expr, c_ast.ID)}


def _without_returns(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """Statements that return nothing, with what a `return` skips under the opposite condition.

    Rewrite:  if (c) return; rest   ->   if (!c) { rest }
    """
    for at, item in enumerate(items):
        if isinstance(item, c_ast.Return) and item.expr is None:
            return items[:at]
        if isinstance(item, c_ast.Compound) and at == len(items) - 1:
            return [*items[:at], c_ast.Compound(_without_returns(_block(item)), item.coord)]
        if isinstance(item, c_ast.If) and item.iffalse is None:
            then = _block(item.iftrue)
            if then and isinstance(then[-1], c_ast.Return) and then[-1].expr is None and not _has_effect(item.cond):
                rest = c_ast.Compound(_without_returns(items[at + 1:]), item.coord)
                before = c_ast.Compound(then[:-1], item.coord) if then[:-1] else None
                opposite = c_ast.UnaryOp("!", item.cond, item.coord)
                kept = c_ast.If(opposite, rest, None, item.coord) if before is None else \
                    c_ast.If(item.cond, before, rest, item.coord)
                return [*items[:at], kept]
    return items


def _block(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None:
        return []
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node]


def _has_effect(node: c_ast.Node) -> bool:
    return any(isinstance(n, c_ast.Assignment) or (isinstance(n, c_ast.UnaryOp) and n.op in ("++", "--", "p++", "p--"))
               for n in everything(node))


def _returns_nothing(function: c_ast.FuncDef) -> bool:
    result = function.decl.type.type
    names = getattr(getattr(result, "type", None), "names", None)
    return isinstance(result, c_ast.TypeDecl) and names == ["void"]


def _is_scalar(declaration: c_ast.Decl) -> bool:
    return isinstance(declaration.type, c_ast.TypeDecl)


def _is_fixed(argument: c_ast.Node, changed: frozenset[str]) -> bool:
    """Whether an argument reads no memory and nothing that the callee changes."""
    return all(not isinstance(n, c_ast.ArrayRef | c_ast.StructRef | c_ast.FuncCall)
               and not (isinstance(n, c_ast.UnaryOp) and n.op == "*")
               and not (isinstance(n, c_ast.ID) and n.name in changed)
               for n in everything(argument))


def _rename_declaration(declaration: c_ast.Decl, name: str) -> None:
    declaration.name = name
    inner = declaration.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
