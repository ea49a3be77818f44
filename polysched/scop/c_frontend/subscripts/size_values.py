"""Integers that a region computes from parameters in no affine way (`n * m`, `n / b`), as parameters of their own.

Members and other integers in memory that the region only reads (`l->w * l->h`) count as parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from pycparser import c_ast

from polysched.scop.c_frontend.declarations.literals import literal
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.extraction import Affine, Extraction
from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.members import memory_parameter, memory_path
from polysched.scop.dtypes import INT32, DType, Kind, promote, usual_conversion
from polysched.scop.limits import LIMITS
from polysched.scop.scop import Parameter

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
OPERATORS = COMPARISONS | {"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"}
MEMORY = (c_ast.StructRef, c_ast.ArrayRef)
LONGEST = LIMITS.size_characters


def size_value(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Affine | None:
    """The value as a parameter; None where something else than parameters and constants decides it.

    C computes it in front of conditions that might keep the program from computing it.  So signed operands are
    widened, and a quotient by 0 is 0.
    """
    if not x.sizes_count or not isinstance(node, c_ast.BinaryOp | c_ast.TernaryOp):
        return None
    found = list(_parts(x, node, domain))
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(found):
        return None
    first, dtype = parts[0][0], _type(x, node, domain)
    key = (first, "value", c_text(node))
    if key not in x.parameters:
        wide = dtype.kind is Kind.SIGNED and all(d.kind is Kind.SIGNED and d.bits <= 32 for _, d in parts)
        text = _spelled(node, wide=wide)
        if len(text) > LONGEST:
            return None
        x.add_parameter(key, Parameter(x.fresh(f"{first.name}_value"), dtype, text,
                                       quotient=_quotient(node) if wide else None))
    return Affine(polyhedra.symbol(x.parameters[key].name), dtype)


def _parts(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Iterator[tuple[Symbol, DType] | None]:
    """The variable and type of every parameter in an expression; None for every part that is none."""
    if isinstance(node, c_ast.Constant):
        found = literal(node.value)
        if found is None or not isinstance(found.value, int):
            yield None
    elif isinstance(node, (c_ast.ID, *MEMORY)):
        yield _parameter(x, node, domain)
    elif isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+", "!"):
        yield from _parts(x, node.expr, domain)
    elif isinstance(node, c_ast.TernaryOp) or (isinstance(node, c_ast.BinaryOp) and node.op in OPERATORS):
        for _, child in node.children():
            yield from _parts(x, child, domain)
    else:
        yield None


def _parameter(x: Extraction, node: c_ast.Node, domain: isl.Set) -> tuple[Symbol, DType] | None:
    """The variable and type of a parameter: an integer variable, or an integer in memory."""
    if isinstance(node, c_ast.ID):
        symbol = x.bindings.symbol(node)
        known = symbol in x.known or x.loop_of(symbol) is not None
        parameter = None if known else x.parameter(symbol)
        return None if parameter is None else (symbol, parameter.dtype)
    path = memory_path(x, node)
    parameter = memory_parameter(x, node, domain)
    return None if path is None or parameter is None else (path.base, parameter.dtype)


def _type(x: Extraction, node: c_ast.Node, domain: isl.Set) -> DType:
    """The type that C computes an expression of parameters and constants in (C11 6.3.1.8)."""
    if isinstance(node, c_ast.Constant):
        found = literal(node.value)
        assert found is not None
        return found.dtype
    if isinstance(node, (c_ast.ID, *MEMORY)):
        part = next(_parts(x, node, domain))
        assert part is not None
        return part[1]
    if isinstance(node, c_ast.UnaryOp):
        return INT32 if node.op == "!" else promote(_type(x, node.expr, domain))
    if isinstance(node, c_ast.TernaryOp):
        return usual_conversion(_type(x, node.iftrue, domain), _type(x, node.iffalse, domain))
    if node.op in COMPARISONS:
        return INT32
    if node.op in ("<<", ">>"):
        return promote(_type(x, node.left, domain))
    return usual_conversion(_type(x, node.left, domain), _type(x, node.right, domain))


def _quotient(node: c_ast.Node) -> tuple[str, str] | None:
    """Dividend and divisor of a quotient by what is no constant."""
    if not isinstance(node, c_ast.BinaryOp) or node.op != "/" or isinstance(node.right, c_ast.Constant):
        return None
    return _spelled(node.left, wide=True), _spelled(node.right, wide=True)


def _spelled(node: c_ast.Node, *, wide: bool) -> str:
    if isinstance(node, c_ast.Constant):
        return str(node.value)
    if isinstance(node, (c_ast.ID, *MEMORY)):
        return f"(long){c_text(node)}" if wide else c_text(node)
    parts = [_spelled(child, wide=wide) for _, child in node.children()]
    if isinstance(node, c_ast.UnaryOp):
        return f"({node.op}{parts[0]})"
    if isinstance(node, c_ast.TernaryOp):
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if node.op in ("/", "%") and not isinstance(node.right, c_ast.Constant):
        return f"({parts[1]} != 0 ? {parts[0]} {node.op} {parts[1]} : 0)"
    return f"({parts[0]} {node.op} {parts[1]})"
