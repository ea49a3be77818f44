"""Evaluate the constant-like integer expressions of C declarations: `n + 1`, `(n + 3) / 4 * 4`."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast, c_parser

from polysched.errors import UndefinedBehaviourError
from polysched.scop.c_arithmetic import COMPARISONS, INTEGER_OPERATORS, integer_operation, wrap
from polysched.scop.c_frontend.declarations.c_types import Scalar, resolve
from polysched.scop.c_frontend.declarations.literals import integer_constant, literal
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.dtypes import INT32, INT64, DType, promote, usual_conversion

SHIFTS = ("<<", ">>")
ARITHMETIC = INTEGER_OPERATORS.keys() - set(SHIFTS)


def evaluate(text: str, values: Mapping[str, int]) -> int | None:
    """The value of a C expression over integers; None when it uses something else than literals and these names.

    Also None where C leaves the value undefined.  Names are of the widest signed type: casts say where C converts.
    """
    try:
        tree = c_parser.CParser().parse(f"int polysched_value = {text};")
    except c_parser.ParseError:
        return None
    declaration = tree.ext[0] if len(tree.ext) == 1 else None
    try:
        return _value(declaration.init, values) if isinstance(declaration, c_ast.Decl) else None
    except UndefinedBehaviourError:
        return None


def names_in(text: str) -> tuple[str, ...]:
    """The names that an expression uses, in order."""
    tree = c_parser.CParser().parse(f"int polysched_value = {text};")
    found: dict[str, None] = {}
    pending = [tree.ext[0].init]
    while pending:
        node = pending.pop()
        if isinstance(node, c_ast.ID):
            found[node.name] = None
        pending += [child for _, child in reversed(node.children())]
    return tuple(found)


def _value(node: c_ast.Node, values: Mapping[str, int]) -> int | None:
    """The value in the type of the expression (C11 6.3.1.8, 6.5); names are of the widest signed type.

    Raises
    ------
    UndefinedBehaviourError : C leaves it undefined: an overflow, a division by 0.
    """
    if isinstance(node, c_ast.ID):
        return values.get(node.name)
    dtype = _type(node)
    if dtype is None:
        return None
    match node:
        case c_ast.Constant():
            return integer_constant(node)
        case c_ast.Cast() | c_ast.UnaryOp():
            operand = _value(node.expr, values)
            if operand is None or isinstance(node, c_ast.Cast) or node.op == "+":
                return None if operand is None else wrap(operand, dtype)
            return integer_operation("-", 0, wrap(operand, dtype), dtype, wrap_signed=False)
        case c_ast.TernaryOp():
            condition = _value(node.cond, values)
            chosen = None if condition is None else _value(node.iftrue if condition else node.iffalse, values)
            return None if chosen is None else wrap(chosen, dtype)
        case _:
            left, right = _value(node.left, values), _value(node.right, values)
            return None if left is None or right is None else _binary(node, left, right, dtype)


def _binary(node: c_ast.BinaryOp, left: int, right: int, dtype: DType) -> int:
    if node.op in SHIFTS:
        return integer_operation(node.op, wrap(left, dtype), right, dtype, wrap_signed=False)
    common = _common(node.left, node.right)
    assert common is not None
    left, right = wrap(left, common), wrap(right, common)
    if node.op in COMPARISONS:
        return int(COMPARISONS[node.op](left, right))
    return integer_operation(node.op, left, right, common, wrap_signed=False)


def _type(node: c_ast.Node) -> DType | None:
    """The type of an integer expression; None where it is none."""
    match node:
        case c_ast.ID():
            return INT64
        case c_ast.Constant():
            found = literal(node.value)
            return found.dtype if found is not None and found.dtype.is_integer else None
        case c_ast.Cast():
            ctype = resolve(node.to_type, Scope().type_names)
            known = isinstance(ctype, Scalar) and ctype.dtype.is_integer and _type(node.expr) is not None
            return ctype.dtype if isinstance(ctype, Scalar) and known else None
        case c_ast.UnaryOp() if node.op in ("-", "+"):
            return _promoted(node.expr)
        case c_ast.TernaryOp():
            return _common(node.iftrue, node.iffalse)
        case c_ast.BinaryOp():
            return _type_of_binary(node)
        case _:
            return None


def _type_of_binary(node: c_ast.BinaryOp) -> DType | None:
    if node.op in SHIFTS:
        return _promoted(node.left)   # C11 6.5.7
    common = _common(node.left, node.right)
    if node.op in COMPARISONS:
        return None if common is None else INT32
    return common if node.op in ARITHMETIC else None


def _promoted(node: c_ast.Node) -> DType | None:
    dtype = _type(node)
    return None if dtype is None else promote(dtype)


def _common(left: c_ast.Node, right: c_ast.Node) -> DType | None:
    own, other = _type(left), _type(right)
    return None if own is None or other is None else usual_conversion(own, other)
