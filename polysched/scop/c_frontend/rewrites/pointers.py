"""Pointers that are set outside the place where they are used, as declarations with one value."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import addressed_names, assigned_names, identifiers_in
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, Pointer
from polysched.scop.c_frontend.declarations.liveness import Liveness
from polysched.scop.c_frontend.declarations.scopes import Origin, Scope, Symbol
from polysched.scop.c_frontend.parse import SyntaxRegion, everything
from polysched.scop.c_frontend.rewrites.countdown import replaced


@dataclass(frozen=True)
class LocalPointers:
    """Rewrites the pointers of a region.

    Rewrite:  { Gi = G[i]; S(Gi); }                      ->  { T *g = G[i]; S(g); }
    Rewrite:  T *hi = a + n; ... #pragma scop S(a, hi)   ->  #pragma scop T *h = a + n; S(a, h)

    The first where all that the region does with Gi stands behind its assignments in one block, and nobody reads it
    behind the region.  The second where the function gives hi one value only, from what it never changes.

    Parameters
    ----------
    scope : what is visible at the region.
    fresh : makes a name that nothing has.
    """

    region: SyntaxRegion
    scope: Scope
    fresh: Callable[[str], str]

    def statements(self, items: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items of the region, rewritten, in place below."""
        made = list(items)
        holder = c_ast.Compound(made)
        liveness = Liveness(self.region)
        for name in sorted({name for item in made for name in assigned_names(item)}):
            symbol = self._pointer(name)
            if symbol is not None and not liveness.live_after(symbol):
                self._declare_where_set(holder, symbol)
        return (*self._values_before(holder), *holder.block_items)

    def _pointer(self, name: str) -> Symbol | None:
        """A pointer variable of the function whose own address nobody takes."""
        symbol = self.scope.lookup(name)
        if (symbol is None or not isinstance(symbol.ctype, Pointer) or symbol.static
                or symbol.origin not in (Origin.LOCAL, Origin.PARAMETER) or not isinstance(symbol.node, c_ast.Decl)
                or any(n.op == "&" and isinstance(n.expr, c_ast.ID) and n.expr.name == name
                       for n in everything(self.region.function.body, c_ast.UnaryOp))):
            return None
        return symbol

    def _declare_where_set(self, holder: c_ast.Compound, symbol: Symbol) -> None:
        name = symbol.name
        blocks = [block for block in everything(holder) if isinstance(block, c_ast.Compound)
                  and any(_sets(item, name) for item in block.block_items or ())]
        if len(blocks) != 1 or _hides(holder, name):
            return
        items = list(blocks[0].block_items)
        first = next(at for at, item in enumerate(items) if _sets(item, name))
        inside = sum(_count(item, name) for item in items[first:])
        set_below = sum(name in assigned_names(item) for item in items) - sum(_sets(item, name) for item in items)
        if inside != _count(holder, name) or set_below or name in identifiers_in(items[first].rvalue):
            return
        value = c_ast.ID(name)
        for at in range(first, len(items)):
            item = items[at]
            if not _sets(item, name):
                items[at] = replaced(item, name, value)
                continue
            new = self.fresh(name)
            items[at] = self._declaration(symbol, new, replaced(item.rvalue, name, value), item.coord)
            value = c_ast.ID(new, item.coord)
        blocks[0].block_items = items

    def _declaration(self, symbol: Symbol, name: str, value: c_ast.Node, coord: object) -> c_ast.Decl:
        made = copy.deepcopy(symbol.node)
        made.name, made.init, made.coord, made.quals = name, value, coord, []
        inner = made.type
        while not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        inner.declname = name
        return made

    def _values_before(self, holder: c_ast.Compound) -> Iterator[c_ast.Decl]:
        """Declarations of the pointers that lead to what the region reaches by another name, too."""
        used = identifiers_in(holder)
        values: dict[str, c_ast.Node] = {}
        for name in sorted(used):
            self._follow(name, holder, values)
        bases = [_base(value) for value in values.values()]
        shared = {base for base in bases if base in used or bases.count(base) > 1}
        wanted = {name for name in values if shared & set(_bases(name, values))}
        made: dict[str, c_ast.Node] = {}
        for name, value in values.items():   # what others are based on comes first
            symbol = self.scope.lookup(name)
            if name not in wanted or symbol is None:
                continue
            value = copy.deepcopy(value)
            for earlier, by in made.items():
                value = replaced(value, earlier, by)
            made[name] = c_ast.ID(self.fresh(name), self.region.items[0].coord)
            holder.block_items = [replaced(item, name, made[name]) for item in holder.block_items]
            yield self._declaration(symbol, made[name].name, value, self.region.items[0].coord)

    def _follow(self, name: str, holder: c_ast.Compound, values: dict[str, c_ast.Node]) -> None:
        """Enter the value of a pointer behind those that it is based on."""
        value = self._only_value(name, holder) if name not in values else None
        base = None if value is None else _base(value)
        if value is not None and base is not None:
            self._follow(base, holder, values)
            values[name] = value

    def _only_value(self, name: str, holder: c_ast.Compound) -> c_ast.Node | None:
        """What the function sets a pointer to, once, from what it never changes, without reading memory."""
        symbol, body = self._pointer(name), self.region.function.body
        if symbol is None or symbol.origin is not Origin.LOCAL or _hides(holder, name):
            return None
        set_by = [n.rvalue for n in everything(body, c_ast.Assignment) if _sets(n, name)]
        values = [v for v in (symbol.node.init, *set_by) if v is not None]
        if len(values) != 1 or len(set_by) != sum(n == name for n in assigned_names(body)) or name in {
                n for item in self.region.items for n in assigned_names(item)}:
            return None
        changed = set(assigned_names(body)) | set(addressed_names(body)) - {_base(values[0])}
        fixed = _is_plain(values[0]) and not identifiers_in(values[0]) & changed
        return values[0] if fixed and self._is_address(values[0]) else None

    def _is_address(self, value: c_ast.Node) -> bool:
        """Whether a value is `p`, `p + e`, `&p[e]`: no memory is read for it."""
        if isinstance(value, c_ast.ID):
            symbol = self.scope.lookup(value.name)
            return symbol is not None and isinstance(symbol.ctype, Pointer | ArrayOf)
        if isinstance(value, c_ast.UnaryOp) and isinstance(value.expr, c_ast.ArrayRef):
            return isinstance(value.expr.name, c_ast.ID) and not _reads(value.expr.subscript)
        return (isinstance(value, c_ast.BinaryOp) and value.op in ("+", "-") and self._is_address(value.left)
                and not _reads(value.right))


def _is_plain(value: c_ast.Node) -> bool:
    """Whether a value is made of variables, numbers, elements and their addresses by two-sided operations alone."""
    return all(isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp | c_ast.ArrayRef)
               or (isinstance(n, c_ast.UnaryOp) and n.op == "&") for n in everything(value))


def _base(value: c_ast.Node) -> str | None:
    """The variable that an address begins at."""
    while not isinstance(value, c_ast.ID):
        value = value.left if isinstance(value, c_ast.BinaryOp) else getattr(value, "expr", None) or getattr(
            value, "name", None)
        if value is None:
            return None
    return str(value.name)


def _bases(name: str, values: Mapping[str, c_ast.Node]) -> Iterator[str]:
    """The variables that a pointer is based on, nearest first."""
    while name in values and (base := _base(values[name])) is not None:
        yield base
        name = base


def _reads(node: c_ast.Node) -> bool:
    return any(not isinstance(n, c_ast.ID | c_ast.Constant | c_ast.BinaryOp) for n in everything(node))


def _sets(node: c_ast.Node, name: str) -> bool:
    return (isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID)
            and node.lvalue.name == name)


def _count(node: c_ast.Node, name: str) -> int:
    """How often a variable is named."""
    return sum(isinstance(n, c_ast.ID) and n.name == name for n in everything(node))


def _hides(node: c_ast.Node, name: str) -> bool:
    return any(isinstance(n, c_ast.Decl) and n.name == name for n in everything(node))
