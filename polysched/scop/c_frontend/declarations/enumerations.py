"""Enumerations: the values of their constants, and with them the type that gcc and clang give their objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycparser import c_ast

from polysched.errors import UndefinedBehaviourError
from polysched.scop import dtypes
from polysched.scop.body import ARITHMETIC
from polysched.scop.c_arithmetic import integer_operation
from polysched.scop.c_frontend.declarations.literals import integer_constant
from polysched.scop.dtypes import DType

Known = Callable[[str], int | None]


def object_type(node: c_ast.Enum, known: Known) -> DType | None:
    """The integer type of an enumeration's objects; None where it is not known.

    `unsigned int`, and `int` where a constant is negative.

    Parameters
    ----------
    known : the value of a constant of another enumeration, or None.

    Source: GCC manual, "Structures, Unions, Enumerations, and Bit-Fields Implementation".
    """
    values = list(_values(node, known))
    if None in values:
        return None
    wanted = dtypes.INT32 if any(value is not None and value < 0 for value in values) else dtypes.UINT32
    low, high = wanted.value_range()
    return wanted if all(value is not None and low <= value <= high for value in values) else None


def _values(node: c_ast.Enum, known: Known) -> Iterator[int | None]:
    own: dict[str, int] = {}
    last: int | None = -1
    for item in node.values.enumerators if node.values else ():
        if not isinstance(item, c_ast.Enumerator):
            continue
        if item.value is not None:
            last = value_of(item.value, lambda name: own[name] if name in own else known(name))
        elif last is not None:
            last += 1
        if last is not None:
            own[item.name] = last
        yield last


def value_of(node: c_ast.Node, known: Known) -> int | None:
    """The value of an integer constant expression of numbers, characters and enumeration constants; else None."""
    match node:
        case c_ast.Constant():
            return integer_constant(node)
        case c_ast.ID():
            return known(node.name)
        case c_ast.UnaryOp(op="+" | "-" | "~"):
            value = value_of(node.expr, known)
            if value is None:
                return None
            return {"+": value, "-": -value, "~": ~value}[node.op]
        case c_ast.BinaryOp():
            left, right = value_of(node.left, known), value_of(node.right, known)
            return None if left is None or right is None else _binary(node.op, left, right)
        case _:
            return None


def _binary(op: str, left: int, right: int) -> int | None:
    try:
        return integer_operation(op, left, right, dtypes.INT64, wrap_signed=False) if op in ARITHMETIC else None
    except UndefinedBehaviourError:
        return None
