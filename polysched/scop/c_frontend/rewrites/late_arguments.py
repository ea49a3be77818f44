"""Whether an argument still says the same where an inlined body uses it, behind what the body has changed.

    static void put(int *p, int *q) { *q = 5; p[0] = 7; }
    put(a + k, &k);   put(a + b[0], b);

C evaluates the arguments first (C11 6.5.2.2p10).  An argument that stands in the place of its parameter is evaluated
where the parameter is used, so nothing that it reads may have changed by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from typing import Any, TypeVar

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import (
    addressed_names,
    assigned_names,
    function_parameters,
    identifiers_in,
)
from polysched.scop.c_frontend.parse import everything, is_step

_Fact = TypeVar("_Fact")


@dataclass(frozen=True)
class Memory:
    """What an lvalue reaches: a variable, and the last member on the way, if there is one."""

    base: str
    member: str = ""

    def meets(self, other: Memory) -> bool:
        """Whether both could be one object, as far as their names tell."""
        return self.base == other.base and (not self.member or not other.member or self.member == other.member)


@dataclass
class FunctionFacts:
    """What the texts of functions say, each collected once: a file may call one from hundreds of places."""

    known: dict[tuple[str, c_ast.FuncDef], Any] = field(default_factory=dict)

    def changed(self, function: c_ast.FuncDef) -> frozenset[str]:
        """The names that a function assigns or takes the address of."""
        return self._once("changed", function, lambda: frozenset(
            {*assigned_names(function.body), *addressed_names(function.body)}))

    def own(self, function: c_ast.FuncDef) -> frozenset[str]:
        """The names of its own."""
        return self._once("own", function, lambda: own_names(function))

    def targets(self, function: c_ast.FuncDef) -> tuple[c_ast.Node, ...]:
        """The lvalues that it assigns."""
        return self._once("targets", function, lambda: tuple(
            target for n in everything(function.body) for target in _targets(n)))

    def calls(self, function: c_ast.FuncDef) -> tuple[c_ast.FuncCall, ...]:
        """The calls of functions by name."""
        return self._once("calls", function, lambda: tuple(
            n for n in everything(function.body, c_ast.FuncCall) if isinstance(n.name, c_ast.ID)))

    def _once(self, what: str, function: c_ast.FuncDef, collect: Callable[[], _Fact]) -> _Fact:
        if (what, function) not in self.known:
            self.known[what, function] = collect()
        found: _Fact = self.known[what, function]
        return found


@dataclass
class Changes:
    """What the functions of a file change.

    Parameters
    ----------
    functions : the definitions of the file, by name.
    pointers : variables that are arrays or pointers.
    walking : pointers that may lead into arrays of other names.
    facts : what their texts say.
    """

    functions: Mapping[str, c_ast.FuncDef]
    pointers: set[str]
    walking: set[str]
    facts: FunctionFacts = field(default_factory=FunctionFacts)

    def variables(self, function: c_ast.FuncDef) -> frozenset[str]:
        """The variables outside a function that it assigns or takes the address of, itself or by what it calls."""
        return frozenset().union(*(
            self.facts.changed(f) - self.facts.own(f) for f in self._reachable(function)))

    def memory(self, function: c_ast.FuncDef, arguments: Sequence[c_ast.Node]) -> set[Memory]:
        """The memory that a call writes through its arguments and through global arrays."""
        return self._of_call(function, arguments, self._inside(function))

    def _of_call(self, function: c_ast.FuncDef, arguments: Sequence[c_ast.Node], inside: Set[Memory]) -> set[Memory]:
        given = dict(zip((p.name for p in function_parameters(function)), arguments, strict=False))
        own = self.facts.own(function)
        return {outer for inner in inside for outer in self._outside(inner, given, own)}

    def _inside(self, function: c_ast.FuncDef) -> set[Memory]:
        """The memory that a function writes, by its own names: the least solution over what it calls, recursion too."""
        reachable = self._reachable(function)
        found = {f.decl.name: {w for target in self.facts.targets(f)
                               for w in reached(target, self.pointers)} for f in reachable}
        grows = True
        while grows:
            before = sum(map(len, found.values()))
            for f in reversed(reachable):
                for called, passed in self._calls(f):
                    found[f.decl.name] |= self._of_call(called, passed, found[called.decl.name])
            grows = sum(map(len, found.values())) > before
        return found[function.decl.name]

    def _reachable(self, function: c_ast.FuncDef) -> list[c_ast.FuncDef]:
        """The function, and all that it calls, by way of others too."""
        found = {function.decl.name: function}
        waiting = [function]
        while waiting:
            for called, _ in self._calls(waiting.pop()):
                if called.decl.name not in found:
                    found[called.decl.name] = called
                    waiting.append(called)
        return list(found.values())

    def _outside(self, inner: Memory, given: Mapping[str, c_ast.Node], own: Set[str]) -> Iterator[Memory]:
        """What the caller calls the memory that a callee reaches; any argument's behind a pointer of the callee."""
        if inner.base in given:
            for outer in reached(given[inner.base], self.pointers):
                yield Memory(outer.base, inner.member or outer.member)
        elif inner.base in own:
            yield from (outer for argument in given.values() for outer in reached(argument, self.pointers))
        else:
            yield inner

    def _calls(self, function: c_ast.FuncDef) -> Iterator[tuple[c_ast.FuncDef, list[c_ast.Node]]]:
        for node in self.facts.calls(function):
            called = self.functions.get(node.name.name)
            if called is not None:
                yield called, list(node.args.exprs) if node.args else []

    def reach(self, pointer: c_ast.Node, variables: Set[str], memory: Set[Memory]) -> bool:
        """Whether changes of variables and memory could change what a pointer leads to."""
        for offset in offsets(pointer, self.pointers):
            if identifiers_in(offset) & variables:
                return True
            read = {m for n in everything(offset) if _reads_memory(n) for m in reached(n, self.pointers)}
            if any(r.meets(w) or (r.base in self.walking or w.base in self.walking) for r in read for w in memory):
                return True
        return False


def own_names(function: c_ast.FuncDef) -> frozenset[str]:
    """The names of a function's parameters and of what its body declares."""
    inside = {n.name for n in everything(function.body, c_ast.Decl) if n.name is not None}
    return frozenset(inside | {p.name for p in function_parameters(function)})


def calls_a_variable(function: c_ast.FuncDef) -> bool:
    """Whether a function calls what a variable of its own points to."""
    own = own_names(function)
    return any(isinstance(n.name, c_ast.ID) and n.name.name in own for n in everything(function.body, c_ast.FuncCall))


def keeps_a_state(function: c_ast.FuncDef) -> bool:
    """Whether a function changes variables of its own that live on behind the call."""
    kept = {n.name for n in everything(function.body, c_ast.Decl) if "static" in (n.storage or ())}
    return bool(kept & {*assigned_names(function.body), *addressed_names(function.body)})


def _targets(node: c_ast.Node) -> Iterator[c_ast.Node]:
    if isinstance(node, c_ast.Assignment):
        yield node.lvalue
    elif is_step(node):
        yield node.expr


def _reads_memory(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ArrayRef | c_ast.StructRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*")


def reached(node: c_ast.Node, pointers: Set[str]) -> Iterator[Memory]:
    """What an lvalue or a pointer leads to, without its subscripts."""
    member = ""
    while not isinstance(node, c_ast.ID):
        if isinstance(node, c_ast.StructRef):
            member = member or node.field.name
            node = node.name
        elif isinstance(node, c_ast.ArrayRef):
            node = node.name
        elif isinstance(node, c_ast.Cast | c_ast.UnaryOp):
            node = node.expr
        elif isinstance(node, c_ast.BinaryOp):
            node = _pointer_first(node, pointers)[0]
        elif isinstance(node, c_ast.TernaryOp):
            yield from reached(node.iftrue, pointers)
            node = node.iffalse
        else:
            return
    yield Memory(node.name, member)


def offsets(node: c_ast.Node, pointers: Set[str]) -> Iterator[c_ast.Node]:
    """The numbers that say where a pointer expression leads to."""
    if isinstance(node, c_ast.ArrayRef):
        yield from offsets(node.name, pointers)
        yield node.subscript
    elif isinstance(node, c_ast.StructRef):
        yield from offsets(node.name, pointers)
    elif isinstance(node, c_ast.Cast) or (isinstance(node, c_ast.UnaryOp) and node.op in ("&", "*")):
        yield from offsets(node.expr, pointers)
    elif isinstance(node, c_ast.BinaryOp):
        pointer, number = _pointer_first(node, pointers)
        yield from offsets(pointer, pointers)
        yield number
    elif isinstance(node, c_ast.TernaryOp):
        yield node.cond
        yield from offsets(node.iftrue, pointers)
        yield from offsets(node.iffalse, pointers)


def _pointer_first(node: c_ast.BinaryOp, pointers: Set[str]) -> tuple[c_ast.Node, c_ast.Node]:
    """The operands of a sum of a pointer and a number; the pointer stands on the left unless the right one is known."""
    right = node.right
    while isinstance(right, c_ast.Cast):
        right = right.expr
    known = isinstance(right, c_ast.ID) and right.name in pointers
    if known or (isinstance(right, c_ast.UnaryOp) and right.op == "&"):
        return node.right, node.left
    return node.left, node.right
