"""Integers that a region computes from parameters in no affine way (`n * m`, `n / b`), as parameters of their own."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.c_types import Scalar
from polysched.scop.c_frontend.declarations.literals import literal
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.extraction import Affine, Extraction
from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.dtypes import INT32, DType, Kind, promote, usual_conversion
from polysched.scop.scop import Parameter

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
OPERATORS = COMPARISONS | {"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"}
LONGEST = 200
"""Characters of a value's text; it stands in bounds."""


def size_value(x: Extraction, node: c_ast.Node) -> Affine | None:
    """The value as a parameter; None where something else than parameters and constants decides it.

    C computes it in front of conditions that might keep the program from computing it.  So signed operands are
    widened, and a quotient by 0 is 0.
    """
    if not x.sizes_count or not isinstance(node, c_ast.BinaryOp | c_ast.TernaryOp):
        return None
    symbols = list(_symbols(x, node))
    if not symbols or None in symbols:
        return None
    first, dtype = symbols[0], _type(x, node)
    assert first is not None
    key = (first, "value", c_text(node))
    if key not in x.parameters:
        wide = all(isinstance(s, Symbol) and isinstance(s.ctype, Scalar) and s.ctype.dtype.kind is Kind.SIGNED
                   and s.ctype.dtype.bits <= 32 for s in symbols) and dtype.kind is Kind.SIGNED
        text = _spelled(node, wide=wide)
        if len(text) > LONGEST:
            return None
        x.add_parameter(key, Parameter(x.fresh(f"{first.name}_value"), dtype, text))
    return Affine(polyhedra.symbol(x.parameters[key].name), dtype)


def _symbols(x: Extraction, node: c_ast.Node) -> Iterator[Symbol | None]:
    """The parameters of an expression; None for every part that is none."""
    if isinstance(node, c_ast.Constant):
        found = literal(node.value)
        if found is None or not isinstance(found.value, int):
            yield None
    elif isinstance(node, c_ast.ID):
        symbol = x.bindings.symbol(node)
        is_parameter = symbol not in x.known and x.loop_of(symbol) is None and x.parameter(symbol) is not None
        yield symbol if is_parameter else None
    elif isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+", "!"):
        yield from _symbols(x, node.expr)
    elif isinstance(node, c_ast.TernaryOp) or (isinstance(node, c_ast.BinaryOp) and node.op in OPERATORS):
        for _, child in node.children():
            yield from _symbols(x, child)
    else:
        yield None


def _type(x: Extraction, node: c_ast.Node) -> DType:
    """The type that C computes an expression of parameters and constants in (C11 6.3.1.8)."""
    if isinstance(node, c_ast.Constant):
        found = literal(node.value)
        assert found is not None
        return found.dtype
    if isinstance(node, c_ast.ID):
        ctype = x.bindings.symbol(node).ctype
        assert isinstance(ctype, Scalar)
        return ctype.dtype
    if isinstance(node, c_ast.UnaryOp):
        return INT32 if node.op == "!" else promote(_type(x, node.expr))
    if isinstance(node, c_ast.TernaryOp):
        return usual_conversion(_type(x, node.iftrue), _type(x, node.iffalse))
    if node.op in COMPARISONS:
        return INT32
    if node.op in ("<<", ">>"):
        return promote(_type(x, node.left))
    return usual_conversion(_type(x, node.left), _type(x, node.right))


def _spelled(node: c_ast.Node, *, wide: bool) -> str:
    if isinstance(node, c_ast.Constant):
        return str(node.value)
    if isinstance(node, c_ast.ID):
        return f"(long){node.name}" if wide else str(node.name)
    parts = [_spelled(child, wide=wide) for _, child in node.children()]
    if isinstance(node, c_ast.UnaryOp):
        return f"({node.op}{parts[0]})"
    if isinstance(node, c_ast.TernaryOp):
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if node.op in ("/", "%") and not isinstance(node.right, c_ast.Constant):
        return f"({parts[1]} != 0 ? {parts[0]} {node.op} {parts[1]} : 0)"
    return f"({parts[0]} {node.op} {parts[1]})"
