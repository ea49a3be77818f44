"""Affine functions and conditions on parameters as plain C, without helper macros."""

from __future__ import annotations

import re
from typing import Any

import islpy as isl

_Op: Any = isl.ast_expr_op_type
_Expr: Any = isl.ast_expr_type
_INFIX = {_Op.add: "+", _Op.sub: "-", _Op.mul: "*", _Op.eq: "==", _Op.le: "<=", _Op.lt: "<", _Op.ge: ">=", _Op.gt: ">",
          _Op.and_: "&&", _Op.and_then: "&&", _Op.or_: "||", _Op.or_else: "||", _Op.div: "/", _Op.pdiv_q: "/",
          _Op.pdiv_r: "%", _Op.zdiv_r: "%"}


def c_expression(affine: isl.PwAff, context: isl.Set) -> str:
    """An affine function of the parameters as a C expression, for parameter values in the context."""
    return _unwrapped(_text(isl.AstBuild.from_context(context).expr_from_pw_aff(affine)))


def c_condition(condition: isl.Set) -> str:
    """A set of parameter values as a C condition."""
    return _unwrapped(_text(isl.AstBuild.from_context(isl.Set("{ : }")).expr_from_set(condition)))


def expression_in_c(expr: isl.AstExpr) -> str:
    """The C of an expression of isl, without the macros that isl itself prints for `floord`, `min` and `max`."""
    printed = str(expr.to_C_str())
    return _unwrapped(_text(expr)) if re.search(r"\b(floord|min|max)\(|\d{19}", printed) else printed


def number_in_c(value: int) -> str:
    """A number as C: no literal has a value that a long does not hold (C11 6.4.4.1), nor has one a sign."""
    if abs(value) < 1 << 63:
        return str(value)
    high, low = divmod(abs(value), 1 << 62)
    text = f"((__int128){high} * {1 << 62} + {low})"
    return text if value > 0 else f"(-{text})"


def _text(expr: isl.AstExpr) -> str:
    """The expression with every operation in parentheses."""
    kind = expr.get_type()
    if kind == _Expr.int:
        value = expr.int_get_val().to_python()
        return number_in_c(value) if value >= 0 else f"({number_in_c(value)})"
    if kind == _Expr.id:
        return str(expr.get_id().get_name())
    op = expr.get_op_type()
    arguments = [_text(expr.get_op_arg(i)) for i in range(expr.get_op_n_arg())]
    if op in (_Op.min, _Op.max):
        result = arguments[0]
        for other in arguments[1:]:
            result = f"({result} {'<' if op == _Op.min else '>'} {other} ? {result} : {other})"
        return result
    if op in (_Op.cond, _Op.select):
        return f"({arguments[0]} ? {arguments[1]} : {arguments[2]})"
    if op == _Op.minus:
        return f"(-{arguments[0]})"
    if op == _Op.fdiv_q:
        return f"({arguments[0]} / {arguments[1]} - ({arguments[0]} % {arguments[1]} < 0))"
    return f"({arguments[0]} {_INFIX[op]} {arguments[1]})"


def _unwrapped(text: str) -> str:
    """Without the outermost parentheses, where they enclose everything."""
    if not text.startswith("("):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[1:-1] if position == len(text) - 1 else text
    return text
