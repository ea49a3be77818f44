"""Counters of loops that begin outside of the region: the first value gets a name at the region's start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import assigned_names, stepped_name
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.definitions import constant_before
from polysched.scop.c_frontend.declarations.scopes import Origin, Scope, Symbol
from polysched.scop.c_frontend.parse import everything
from polysched.scop.c_frontend.rewrites.bodies import block
from polysched.scop.c_frontend.rewrites.induction import step_of


@dataclass(eq=False)
class Starts:
    """Says in the head of a loop where its counter starts, if the loop steps other variables, too; in place.

    Rewrite:  for (; n > 0; n--) { *q = *p; q++; p++; }  ->  for (n = first; n > 0; n--) { *q = *p; q++; p++; }

    `first` is a constant, or a new name for the value at the region's start.  That takes a loop that runs once in the
    region, and in front of which nothing in it changes the counter, an integer of the function whose address nobody
    takes.

    Parameters
    ----------
    scope : what is visible at the region; new names are entered.
    plain : the variables of the function whose address nobody takes.
    before : the statements of the block in front of the region.
    fresh : makes a name that nothing has.
    saved : what the new names stand for.
    """

    scope: Scope
    plain: frozenset[str]
    before: Sequence[c_ast.Node]
    fresh: Callable[[str], str]
    saved: dict[str, Symbol] = field(default_factory=dict)

    def statements(self, items: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items of the region."""
        return tuple(self._in_order(items, set()))

    def _in_order(self, items: Sequence[c_ast.Node], changed: set[str]) -> list[c_ast.Node]:
        """Statements that run once, one after the other; blocks around such a loop alone are taken away."""
        made: list[c_ast.Node] = []
        for item in items:
            inside = block(item) if isinstance(item, c_ast.Compound) else [item]
            started = [self._start(each, changed) for each in inside if isinstance(each, c_ast.For)]
            made += inside if any(started) and not any(isinstance(each, c_ast.Decl) for each in inside) else [item]
            changed |= {*assigned_names(item), *(n.name for n in everything(item) if isinstance(n, c_ast.Decl))}
        return made

    def _start(self, node: c_ast.For, changed: set[str]) -> bool:
        """Whether a loop was given its start."""
        name = stepped_name(node.next)
        if node.init is not None or name is None or name in changed or name not in self.plain:
            return False
        symbol = self.scope.lookup(name)
        if symbol is None or not _is_integer(symbol) or not any(
                other not in (None, name) for other, _ in map(step_of, block(node.stmt))):
            return False
        counter = c_ast.ID(symbol.name, node.coord)
        node.init = c_ast.Assignment("=", counter, self._first(symbol, node), node.coord)
        return True

    def _first(self, symbol: Symbol, node: c_ast.For) -> c_ast.Node:
        assert isinstance(symbol.ctype, Scalar)
        constant = constant_before(self.before, symbol.name, symbol.ctype.dtype)
        if constant is not None:
            return c_ast.Constant("int", str(constant), node.coord)
        name = self.fresh(symbol.name)
        self.scope.levels[-1].enter("symbols", name, Symbol(
            name=name, ctype=symbol.ctype, origin=Origin.LOCAL, node=c_ast.ID(name)))
        self.saved[name] = symbol
        return c_ast.ID(name, node.coord)


def _is_integer(symbol: Symbol) -> bool:
    """Whether a symbol is an integer that only the function around the region changes, by its name."""
    return (isinstance(symbol.ctype, Scalar) and symbol.ctype.dtype.is_integer and not symbol.ctype.volatile
            and symbol.origin in (Origin.LOCAL, Origin.PARAMETER) and not symbol.static)
