"""Struct members that the region only reads: `grid.n` and `grid->n` as parameters."""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.c_types import Pointer, Scalar, StructType
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.scopes import Origin, Symbol
from polysched.scop.scop import Parameter


def member_path(node: c_ast.Node) -> tuple[c_ast.ID, tuple[str, ...], str] | None:
    """The variable, member names and spelling of `s.a.b` or `p->a.b`; None for anything with a subscript."""
    if isinstance(node, c_ast.ID):
        return node, (), node.name
    if not isinstance(node, c_ast.StructRef):
        return None
    inner = member_path(node.name)
    if inner is None:
        return None
    base, names, spelling = inner
    return base, (*names, node.field.name), f"{spelling}{node.type}{node.field.name}"


def member_parameter(x: Extraction, node: c_ast.StructRef) -> Parameter | None:
    """The parameter that an integer member is; None when the region writes it, or it is none."""
    path = member_path(node)
    if path is None:
        return None
    base, names, spelling = path
    symbol = x.bindings.symbol(base)
    key = (symbol, spelling)
    if key in x.parameters:
        return x.parameters[key]
    ctype = symbol.ctype
    for name in names:
        if isinstance(ctype, Pointer):
            ctype = ctype.target
        member = ctype.member(name) if isinstance(ctype, StructType) else None
        if member is None:
            return None
        ctype = member
    if not isinstance(ctype, Scalar) or not ctype.dtype.is_integer or ctype.volatile or _changes(x, symbol, names):
        return None
    found = Parameter(x.fresh("_".join((symbol.name, *names))), ctype.dtype, spelling)
    x.add_parameter(key, found)
    return found


def _changes(x: Extraction, symbol: Symbol, names: tuple[str, ...]) -> bool:
    """Whether the region could write the member, or move the pointer that leads to it."""
    return (symbol in x.bindings.written or symbol.origin is Origin.REGION
            or any(base is symbol and (not members or members[-1] == names[-1])
                   for base, members in x.bindings.written_members))
