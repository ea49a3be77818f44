"""What variables hold where a region begins: constants, or parameters that the emitted region saves at its start."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import assigned_names
from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.definitions import constant_before
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.extraction import Affine, Extraction
from polysched.scop.c_frontend.parse import everything
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.scop import Parameter


def entry_value(x: Extraction, symbol: Symbol, at: c_ast.Node) -> Affine | None:
    """The value that an integer of the function still has at a statement of the region, which changes it later.

    None where the statement may run again or behind a change, and for variables that pointers reach.
    """
    ctype = symbol.ctype
    if x.region is None or x.loops or x.guards or x.maybe or not isinstance(ctype, Scalar) or not _is_own(x, symbol):
        return None
    if ctype.volatile or not ctype.dtype.is_integer:
        return None
    if symbol.name in _assigned_before(x.region.items, at):
        return None
    if any(isinstance(n, c_ast.Decl) and n.name == symbol.name for item in x.region.items for n in everything(item)):
        return None
    constant = constant_before(x.region.before, symbol.name, ctype.dtype)
    if constant is not None:
        return Affine(polyhedra.constant(constant), ctype.dtype)
    key = (symbol, "first")
    if key not in x.parameters:
        name = x.fresh(f"{symbol.name}_first")
        x.add_parameter(key, Parameter(name, ctype.dtype))
        x.saved.append(at_region_start(name, symbol))
    return Affine(polyhedra.symbol(x.parameters[key].name), ctype.dtype)


def at_region_start(name: str, symbol: Symbol) -> str:
    """The declaration of a name for the value of an integer where the region begins."""
    assert isinstance(symbol.ctype, Scalar)
    return f"const {symbol.ctype.dtype.c_name} {name} = {symbol.name};"


def _is_own(x: Extraction, symbol: Symbol) -> bool:
    """Whether only the function around the region, by its name there, changes a variable."""
    return (symbol.origin in (Origin.LOCAL, Origin.PARAMETER) and not symbol.static
            and symbol.name not in x.bindings.addressed and x.bindings.visible.get(symbol.name) is symbol)


def _assigned_before(items: tuple[c_ast.Node, ...], at: c_ast.Node) -> frozenset[str]:
    """The variables that statements in front of one assign; all where it is not found."""
    found: set[str] = set()
    for node in _until(items, at):
        if isinstance(node, c_ast.Assignment | c_ast.UnaryOp):
            found.update(name for name in assigned_names(node))
    return frozenset(found)


def _until(items: tuple[c_ast.Node, ...], at: c_ast.Node) -> Iterator[c_ast.Node]:
    for item in items:
        for node in everything(item):
            if node is at:
                return
            yield node
