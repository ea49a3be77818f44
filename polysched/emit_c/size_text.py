"""A function of the parameters as a C expression of type `long`."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import islpy as isl

from polysched.scop.scop import Scop

Value = TypeVar("Value", isl.PwAff, isl.Set)
_OP: Any = isl.ast_expr_op_type
_EXPRESSION: Any = isl.ast_expr_type
_BINARY = {_OP.add: "+", _OP.sub: "-", _OP.mul: "*", _OP.div: "/", _OP.pdiv_q: "/", _OP.pdiv_r: "%", _OP.zdiv_r: "%",
           _OP.and_: "&&", _OP.and_then: "&&", _OP.or_: "||", _OP.or_else: "||",
           _OP.eq: "==", _OP.le: "<=", _OP.lt: "<", _OP.ge: ">=", _OP.gt: ">"}


def size_text(scop: Scop, value: isl.PwAff) -> str:
    """The expression, with the parameters as C spells them at the region; it needs no macros."""
    value = spelled(scop, value)
    build = isl.AstBuild.from_context(isl.Set.universe(value.domain().get_space().params()))
    return expression_text(build.expr_from_pw_aff(value.coalesce()))


def spelled(scop: Scop, value: Value) -> Value:
    """The function or set with the names of its parameters as C spells their values at the region."""
    for parameter in scop.parameters:
        at = value.find_dim_by_name(isl.dim_type.param, parameter.name)
        if at >= 0:
            value = value.set_dim_id(isl.dim_type.param, at, isl.Id(f"(long){parameter.spelling}"))
    return value


def expression_text(expression: isl.AstExpr) -> str:
    """The C of an expression of isl, without the macros that isl itself prints for `floord`, `min` and `max`."""
    printed = str(expression.to_C_str())
    return _text(expression) if re.search(r"\b(floord|min|max)\(", printed) else printed


def _text(expression: isl.AstExpr) -> str:
    kind = expression.get_type()
    if kind != _EXPRESSION.op:
        return str(expression.to_C_str())
    operation = expression.get_op_type()
    operands = [_text(expression.get_op_arg(k)) for k in range(expression.get_op_n_arg())]
    if operation in _BINARY:
        return f"({operands[0]} {_BINARY[operation]} {operands[1]})"
    if operation == _OP.minus:
        return f"(-{operands[0]})"
    if operation in (_OP.cond, _OP.select):
        return f"({operands[0]} ? {operands[1]} : {operands[2]})"
    if operation == _OP.fdiv_q:
        n, d = operands
        return f"({n} >= 0 ? {n} / {d} : -((-{n} + {d} - 1) / {d}))"
    assert operation in (_OP.min, _OP.max), operation
    folded = operands[0]
    for operand in operands[1:]:
        folded = f"({folded} {'<' if operation == _OP.min else '>'} {operand} ? {folded} : {operand})"
    return folded
