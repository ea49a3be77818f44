"""What variables of the function around a region are set to, once, before the region: `int rows = (n + 3) / 4;`."""

from __future__ import annotations

import copy

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import Bindings
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.parse import c_text, replace_child

MOST_CHARACTERS = 400
ARITHMETIC = (c_ast.Constant, c_ast.ID, c_ast.UnaryOp, c_ast.BinaryOp, c_ast.TernaryOp)


def definition_of(bindings: Bindings, symbol: Symbol) -> str:
    """An integer as C over the integer parameters of its function; empty where it is not set once to such a value."""
    value = _value(bindings, symbol)
    text = "" if value is None else c_text(value)
    return text if len(text) <= MOST_CHARACTERS else ""


def _value(bindings: Bindings, symbol: Symbol) -> c_ast.Node | None:
    initial = getattr(symbol.node, "init", None)
    if symbol.origin is not Origin.LOCAL or symbol.static or initial is None or _may_change(bindings, symbol):
        return None
    return _over_parameters(bindings, symbol, initial)


def _may_change(bindings: Bindings, symbol: Symbol) -> bool:
    return (symbol.name in bindings.changed_names or symbol.name in bindings.addressed
            or bindings.visible.get(symbol.name) is not symbol)


def _stands_before(bindings: Bindings, symbol: Symbol, later: Symbol) -> bool:
    """Whether a name that the region sees was declared in front of another one, so that this one sees it, too."""
    order = [*bindings.visible]
    return order.index(symbol.name) < order.index(later.name)


def _over_parameters(bindings: Bindings, defined: Symbol, node: c_ast.Node) -> c_ast.Node | None:
    """A copy of an initial value with the function's own variables replaced by what they are set to."""
    if not isinstance(node, ARITHMETIC) or (isinstance(node, c_ast.UnaryOp) and node.op not in ("-", "+")):
        return None
    if isinstance(node, c_ast.ID):
        symbol = bindings.visible.get(node.name)
        if symbol is None or not isinstance(symbol.ctype, Scalar) or not symbol.ctype.dtype.is_integer:
            return None
        if not _stands_before(bindings, symbol, defined):
            return None
        if symbol.origin is Origin.PARAMETER and not _may_change(bindings, symbol):
            return copy.copy(node)
        return _value(bindings, symbol)
    made = copy.copy(node)
    for name, child in node.children():
        new = _over_parameters(bindings, defined, child)
        if new is None:
            return None
        replace_child(made, name, new)
    return made
