"""Evaluate the constant-like integer expressions of C declarations: `n + 1`, `(n + 3) / 4 * 4`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from pycparser import c_ast, c_parser

OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "/": lambda a, b: -(-a // b) if (a < 0) != (b < 0) else a // b,
    "%": lambda a, b: a - b * (-(-a // b) if (a < 0) != (b < 0) else a // b)}


def evaluate(text: str, values: Mapping[str, int]) -> int | None:
    """The value of a C expression over integers; None when it uses something else than literals and these names."""
    try:
        tree = c_parser.CParser().parse(f"int polysched_value = {text};")
    except c_parser.ParseError:
        return None
    declaration = tree.ext[0] if len(tree.ext) == 1 else None
    return _value(declaration.init, values) if isinstance(declaration, c_ast.Decl) else None


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
    match node:
        case c_ast.Constant() if node.type in ("int", "long int", "unsigned int", "long unsigned int"):
            return int(node.value.rstrip("uUlL"), 0) if not _is_octal(node.value) else int(node.value.rstrip("uUlL"), 8)
        case c_ast.ID():
            return values.get(node.name)
        case c_ast.Cast():
            return _value(node.expr, values)
        case c_ast.UnaryOp() if node.op in ("-", "+"):
            operand = _value(node.expr, values)
            return None if operand is None else -operand if node.op == "-" else operand
        case c_ast.TernaryOp():
            condition = _value(node.cond, values)
            return None if condition is None else _value(node.iftrue if condition else node.iffalse, values)
        case c_ast.BinaryOp() if node.op in OPERATORS:
            left, right = _value(node.left, values), _value(node.right, values)
            if left is None or right is None or (node.op in ("/", "%") and right == 0):
                return None
            return OPERATORS[node.op](left, right)
        case _:
            return None


def _is_octal(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text[1].isdigit()
