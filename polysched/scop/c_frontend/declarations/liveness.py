"""Whether a variable's value at the end of a region can still be read.

Conservative: `True` whenever some path could read the variable before it is set again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from enum import Enum
from functools import cached_property, singledispatch

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Scalar, StructType
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.parse import LOOPS, SyntaxRegion, everything

JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch, c_ast.Break, c_ast.Continue)


class Effect(Enum):
    """What happens to a variable first: it is READ, it is SET (or never looked at again), or NOTHING does."""

    READ = "read"
    SET = "set"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Liveness:
    """What is read after a region; the function around it is walked once for all symbols."""

    region: SyntaxRegion

    @cached_property
    def _has_jumps(self) -> bool:
        return any(isinstance(n, JUMPS) for n in _outside(self.region))

    @cached_property
    def _named_outside(self) -> frozenset[str]:
        return frozenset(n.name for n in _outside(self.region) if isinstance(n, c_ast.ID))

    @cached_property
    def _addressed(self) -> frozenset[str]:
        """The variables whose address is taken anywhere in the function."""
        return frozenset(n.expr.name for n in everything(self.region.function.body, c_ast.UnaryOp)
                         if n.op == "&" and isinstance(n.expr, c_ast.ID))

    def live_after(self, symbol: Symbol) -> bool:
        """Whether the value that a symbol has after the region may be read."""
        region = self.region
        if symbol.origin is Origin.REGION:
            return False
        if symbol.origin is Origin.GLOBAL or symbol.static:
            return True
        if self._has_jumps:
            return symbol.name in self._named_outside
        effect = first_effect(region.after, symbol.name)
        if effect is not Effect.NOTHING:
            return effect is Effect.READ
        below: c_ast.Node = region.path[-1]
        for above in reversed(region.path[:-1]):
            if isinstance(above, LOOPS) and first_effect(next_iteration(above), symbol.name) is Effect.READ:
                return True
            if isinstance(above, c_ast.Compound):
                items = above.block_items or []
                at = next(k for k, item in enumerate(items) if item is below)
                effect = first_effect(items[at + 1:], symbol.name)
                if effect is not Effect.NOTHING:
                    return effect is Effect.READ
            below = above
        return False

    def dead_after(self, symbol: Symbol) -> bool:
        """Whether a local variable of the function, declared outside the region, is surely not read after it.

        A variable whose address is taken anywhere in the function may be read through a pointer.
        """
        return (symbol.origin in (Origin.LOCAL, Origin.PARAMETER) and symbol.name not in self._addressed
                and not self.live_after(symbol))

    def object_dead_after(self, symbol: Symbol) -> bool:
        """Whether a local array or structure of the function is surely not read after the region.

        That takes a function that names it only in references to single elements: elsewhere an array is a pointer to
        its first element, which may be kept.
        """
        steps = _steps(symbol.ctype)
        return (symbol.origin is Origin.LOCAL and steps is not None and not self.live_after(symbol)
                and not _escapes(self.region.function.body, symbol.name, steps))


def _steps(ctype: CType) -> int | None:
    """How many subscripts and member names lead to every element of an object; None where they lead to pointers."""
    if isinstance(ctype, Scalar):
        return 0
    inner = [ctype.element] if isinstance(ctype, ArrayOf) else [
        member for _, member in ctype.members] if isinstance(ctype, StructType) else []
    found = {_steps(member) for member in inner}
    steps = found.pop() if len(found) == 1 else None
    return None if steps is None else steps + 1


def _escapes(node: c_ast.Node, name: str, steps: int) -> bool:
    """Whether a function names an object other than in a reference to one element whose address is not taken."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&" and _reference(node.expr)[0] == name:
        return True
    if isinstance(node, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef):
        base, taken, subscripts = _reference(node)
        if base == name and taken != steps:
            return True
        if base is not None:
            return any(_escapes(subscript, name, steps) for subscript in subscripts)
    return any(_escapes(child, name, steps) for _, child in node.children())


def _reference(node: c_ast.Node) -> tuple[str | None, int, list[c_ast.Node]]:
    """The variable that subscripts and member names begin at, how many there are, and the subscripts."""
    steps, subscripts = 0, []
    while isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.StructRef) and node.type == "."):
        if isinstance(node, c_ast.ArrayRef):
            subscripts.append(node.subscript)
        steps, node = steps + 1, node.name
    return (node.name if isinstance(node, c_ast.ID) else None), steps, subscripts


def _outside(region: SyntaxRegion) -> Iterator[c_ast.Node]:
    """The nodes of a function that are not inside the region."""
    return _all_but({id(item) for item in region.items}, region.function.body)


def _all_but(left_out: Set[int], node: c_ast.Node) -> Iterator[c_ast.Node]:
    left = [node]
    while left:
        found = left.pop()
        if id(found) not in left_out:
            yield found
            left.extend(reversed(list(found)))


def next_iteration(loop: c_ast.Node) -> list[c_ast.Node]:
    """What runs behind the body of a loop, if it goes on, in this order."""
    parts = (loop.next, loop.cond, loop.stmt) if isinstance(loop, c_ast.For) else (loop.cond, loop.stmt)
    return [part for part in parts if part is not None]


def first_effect(nodes: Sequence[c_ast.Node], name: str) -> Effect:
    """What statements that run one after the other do to a variable first."""
    for node in nodes:
        if isinstance(node, c_ast.Decl) and node.name == name:
            return Effect.READ if _first(node.init, name) is Effect.READ else Effect.NOTHING
        effect = _first(node, name)
        if effect is not Effect.NOTHING:
            return effect
    return Effect.NOTHING


@singledispatch
def _first(node: c_ast.Node, name: str) -> Effect:
    """What a subtree does first."""
    return first_effect([child for _, child in node.children()], name)


@_first.register
def _(node: None, name: str) -> Effect:
    return Effect.NOTHING


@_first.register
def _(node: c_ast.ID, name: str) -> Effect:
    return Effect.READ if node.name == name else Effect.NOTHING


@_first.register
def _(node: c_ast.StructRef, name: str) -> Effect:
    return _first(node.name, name)


@_first.register
def _(node: c_ast.Return, name: str) -> Effect:
    return Effect.READ if _first(node.expr, name) is Effect.READ else Effect.SET


@_first.register
def _(node: c_ast.Assignment, name: str) -> Effect:
    if node.op != "=" or not isinstance(node.lvalue, c_ast.ID):
        return first_effect([child for _, child in node.children()], name)
    value = _first(node.rvalue, name)
    return Effect.SET if value is Effect.NOTHING and node.lvalue.name == name else value


@_first.register
def _(node: c_ast.Compound, name: str) -> Effect:
    return first_effect(node.block_items or [], name)


@_first.register
def _(node: c_ast.DeclList, name: str) -> Effect:
    return first_effect(node.decls, name)


@_first.register(c_ast.If)
@_first.register(c_ast.TernaryOp)
def _(node: c_ast.If | c_ast.TernaryOp, name: str) -> Effect:
    return _branches([node.cond], [node.iftrue, node.iffalse], name)


@_first.register
def _(node: c_ast.BinaryOp, name: str) -> Effect:
    if node.op in ("&&", "||"):
        return _branches([node.left], [node.right, None], name)
    return first_effect([node.left, node.right], name)


@_first.register
def _(node: c_ast.For, name: str) -> Effect:
    return _branches([n for n in (node.init, node.cond) if n is not None],
                     [c_ast.Compound([n for n in (node.stmt, node.next) if n is not None]), None], name)


@_first.register
def _(node: c_ast.While, name: str) -> Effect:
    return _branches([node.cond], [node.stmt, None], name)


@_first.register
def _(node: c_ast.DoWhile, name: str) -> Effect:
    return first_effect([node.stmt, node.cond], name)


def _branches(before: list[c_ast.Node], branches: list[c_ast.Node | None], name: str) -> Effect:
    """First `before`, then one of the branches."""
    effect = first_effect(before, name)
    if effect is not Effect.NOTHING:
        return effect
    effects = [_first(b, name) for b in branches]
    if Effect.READ in effects:
        return Effect.READ
    return Effect.SET if all(e is Effect.SET for e in effects) else Effect.NOTHING
