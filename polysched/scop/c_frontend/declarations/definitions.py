"""What variables of the function around a region are set to, once, before the region: `int rows = (n + 3) / 4;`."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import Bindings, addressed_names, assigned_names
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.literals import integer_constant, literal
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.parse import c_text, everything
from polysched.scop.dtypes import INT32, DType, Kind, promote, usual_conversion

MOST_CHARACTERS = 400
SHIFTS = ("<<", ">>")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "^", *SHIFTS, *COMPARISONS)

Typed = tuple[c_ast.Node, DType]
"""An expression and its type."""


def definition_of(bindings: Bindings, symbol: Symbol) -> str:
    """An integer as C over the integer parameters of its function; empty where it is not set once to such a value.

    Casts stand where C converts, so that the value is the same wherever a parameter's own type is not known: all
    unsigned arithmetic is that of casts and constants.
    """
    found = _value(bindings, symbol)
    text = "" if found is None else c_text(found[0])
    return text if len(text) <= MOST_CHARACTERS else ""


def _value(bindings: Bindings, symbol: Symbol) -> Typed | None:
    initial = getattr(symbol.node, "init", None)
    if symbol.origin is not Origin.LOCAL or symbol.static or initial is None or _may_change(bindings, symbol):
        return None
    dtype = _integer(symbol)
    found = None if dtype is None else _over_parameters(bindings, symbol, initial)
    return None if found is None or dtype is None else (_converted(*found, dtype), dtype)


def _integer(symbol: Symbol) -> DType | None:
    """The type of an integer variable; None for any other."""
    ctype = symbol.ctype
    return ctype.dtype if isinstance(ctype, Scalar) and ctype.dtype.is_integer else None


def _may_change(bindings: Bindings, symbol: Symbol) -> bool:
    return (symbol.name in bindings.changed_names or symbol.name in bindings.addressed
            or bindings.visible.get(symbol.name) is not symbol)


def _stands_before(bindings: Bindings, symbol: Symbol, later: Symbol) -> bool:
    """Whether a name that the region sees was declared in front of another one, so that this one sees it, too."""
    order = [*bindings.visible]
    return order.index(symbol.name) < order.index(later.name)


def _over_parameters(bindings: Bindings, defined: Symbol, node: c_ast.Node) -> Typed | None:
    """A copy of an initial value with the function's own variables replaced by what they are set to."""
    if isinstance(node, c_ast.ID):
        return _variable(bindings, defined, node)
    if isinstance(node, c_ast.Constant):
        found = literal(node.value)
        return None if found is None or not found.dtype.is_integer else (copy.copy(node), found.dtype)
    parts: list[Typed] = []
    for _, child in node.children():
        part = _over_parameters(bindings, defined, child)
        if part is None:
            return None
        parts.append(part)
    return _computed(node, parts)


def _variable(bindings: Bindings, defined: Symbol, node: c_ast.ID) -> Typed | None:
    symbol = bindings.visible.get(node.name)
    dtype = None if symbol is None else _integer(symbol)
    if symbol is None or dtype is None or not _stands_before(bindings, symbol, defined):
        return None
    if symbol.origin is Origin.PARAMETER and not _may_change(bindings, symbol):
        return copy.copy(node), dtype
    return _value(bindings, symbol)


def _computed(node: c_ast.Node, parts: list[Typed]) -> Typed | None:
    """An operator's value; None where it is none of integer arithmetic."""
    if isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+"):
        dtype = promote(parts[0][1])
        return c_ast.UnaryOp(node.op, _operand(*parts[0], dtype), node.coord), dtype
    if isinstance(node, c_ast.TernaryOp):
        dtype = usual_conversion(parts[1][1], parts[2][1])
        branches = [_operand(*part, dtype) for part in parts[1:]]
        return c_ast.TernaryOp(parts[0][0], *branches, node.coord), dtype
    if not isinstance(node, c_ast.BinaryOp) or node.op not in OPERATORS:
        return None
    left, right = parts
    if node.op in SHIFTS:   # C11 6.5.7: only the left side's type counts
        dtype = promote(left[1])
        return c_ast.BinaryOp(node.op, _operand(*left, dtype), right[0], node.coord), dtype
    dtype = usual_conversion(left[1], right[1])
    made = c_ast.BinaryOp(node.op, _operand(*left, dtype), _operand(*right, dtype), node.coord)
    return made, INT32 if node.op in COMPARISONS else dtype


def _operand(node: c_ast.Node, own: DType, wanted: DType) -> c_ast.Node:
    """An operand in an operator's type; names do not say by themselves that their arithmetic wraps."""
    if wanted.kind is Kind.SIGNED or isinstance(node, c_ast.Constant):
        return node   # converted by what stands beside it
    return _cast(node, wanted) if isinstance(node, c_ast.ID) else _converted(node, own, wanted)


def _converted(node: c_ast.Node, own: DType, wanted: DType) -> c_ast.Node:
    """A value in another type; without a cast where that is an integer of the same value, as wide as a name's."""
    if own == wanted:
        return node
    (low, high), (least, largest) = own.value_range(), wanted.value_range()
    keeps = least <= low and high <= largest
    if keeps and (isinstance(node, c_ast.ID) or (
            wanted.kind is Kind.SIGNED and any(isinstance(n, c_ast.ID) for n in everything(node)))):
        return node
    return _cast(node, wanted)


def _cast(node: c_ast.Node, wanted: DType) -> c_ast.Node:
    named = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(wanted.c_name.split()))
    return c_ast.Cast(c_ast.Typename(None, [], None, named), node, node.coord)


def constant_before(before: Sequence[c_ast.Node], name: str, dtype: DType) -> int | None:
    """The constant of its type that the last statement in front of the region which names a variable sets it to."""
    low, high = dtype.value_range()
    for item in reversed(before):
        if any(isinstance(n, c_ast.Label | c_ast.Case | c_ast.Default) for n in everything(item)):
            return None
        value = item.init if isinstance(item, c_ast.Decl) and item.name == name else item.rvalue if (
            isinstance(item, c_ast.Assignment) and item.op == "=" and isinstance(item.lvalue, c_ast.ID)
            and item.lvalue.name == name) else None
        if value is not None:
            constant = integer_constant(value)
            return constant if constant is not None and low <= constant <= high else None
        if name in assigned_names(item) or name in addressed_names(item):
            return None
    return None
