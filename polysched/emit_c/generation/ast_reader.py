"""isl's AST -> loop IR, by walking it in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import islpy as isl

from polysched.emit_c.generation.ast_build import PLACEHOLDER, mark_coverage
from polysched.emit_c.generation.piece_loops import loop_over_pieces, where
from polysched.emit_c.loop_ir.index import (
    Choice,
    Comparison,
    Condition,
    Linear,
    Variable,
    conjuncts,
    constant,
    extreme,
    junction,
    of_atom,
    quotient,
    remainder,
    shifted,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import For, Let, Node, StatementInstance
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block
from polysched.errors import UnsupportedScopError
from polysched.scheduling.marks import LoopMark
from polysched.tiling.shapes.split_tiles import in_place_of_pieces

# The stubs of islpy type the kinds of nodes as int.
_Op: Any = isl.ast_expr_op_type
_Node: Any = isl.ast_node_type
_Expr: Any = isl.ast_expr_type
_COMPARISONS = {_Op.lt: "<", _Op.le: "<=", _Op.gt: ">", _Op.ge: ">=", _Op.eq: "=="}
_JUNCTIONS = {_Op.and_: "&&", _Op.and_then: "&&", _Op.or_: "||", _Op.or_else: "||"}


def read_ast(root: isl.AstNode) -> Node:
    """The loop IR of an AST that `ast_build` made; loops of one iteration become `Let` or vanish.

    The marks of pieces become loops over all of them.
    """
    return _read(root, {})


def _read(node: isl.AstNode, marks: Mapping[int, LoopMark]) -> Node:
    kind = node.get_type()
    if kind == _Node.for_:
        return _read_for(node, marks)
    if kind == _Node.if_:
        otherwise = _read(node.if_get_else(), marks) if node.if_has_else() else None
        return where(read_condition(node.if_get_cond()), _read(node.if_get_then(), marks), otherwise)
    if kind == _Node.block:
        children = node.block_get_children()
        return block(tuple(_read(children.get_at(i), marks) for i in range(children.n_ast_node())))
    if kind == _Node.mark:
        name = node.mark_get_id().get_name()
        pieces = in_place_of_pieces(name)
        if pieces is not None:
            return loop_over_pieces(*pieces, _read(node.mark_get_node(), marks))
        covered = mark_coverage(name)
        if covered is not None:
            mark, depths = covered
            marks = {**marks, **dict.fromkeys(depths, mark)}
        return _read(node.mark_get_node(), marks)
    return _read_instance(node)


def _read_instance(node: isl.AstNode) -> StatementInstance:
    call = node.user_get_expr()
    name = call.get_op_arg(0).get_id().get_name()
    return StatementInstance(name, tuple(read_index(call.get_op_arg(i)) for i in range(1, call.get_op_n_arg())))


def _read_for(node: isl.AstNode, marks: Mapping[int, LoopMark]) -> Node:
    name = node.for_get_iterator().get_id().get_name()
    depth = int(name.removeprefix(PLACEHOLDER))
    lower = read_index(node.for_get_init())
    if node.for_is_degenerate():
        return _let(name, lower, _read(node.for_get_body(), marks), depth)
    upper, guard = _split_bound(name, read_condition(node.for_get_cond()))
    if upper is None:
        raise UnsupportedScopError("a loop of the schedule has no upper bound", where="emit_c",
                                   witness=node.to_C_str().splitlines()[0],
                                   hint="bound the parameters in the context of the SCoP")
    step = read_index(node.for_get_inc()).constant
    return For(name, lower, upper, step, _read(node.for_get_body(), marks), marks.get(depth, LoopMark()), depth, guard)


def _let(name: str, value: Linear, body: Node, depth: int) -> Node:
    """A variable with one value: substituted where that stays a sum of variables, else declared."""
    if all(isinstance(atom, Variable) for atom, _ in value.terms):
        return substitute_node(body, {name: value})
    return Let(name, value, body, depth)


def _split_bound(name: str, condition: Condition) -> tuple[Linear | None, Condition | None]:
    """The exclusive upper bound that a loop condition gives, and what else the condition says."""
    bounds: list[Linear] = []
    rest: list[Condition] = []
    for arm in conjuncts(condition):
        if (isinstance(arm, Comparison) and arm.op in ("<", "<=") and arm.left == variable(name)
                and name not in variables(arm.right)):
            bounds.append(shifted(arm.right, 1 if arm.op == "<=" else 0))
        else:
            rest.append(arm)
    return extreme("min", bounds) if bounds else None, junction("&&", rest) if rest else None


def read_function(function: isl.PwAff) -> Linear:
    """A quasi-affine function of the parameters."""
    return read_index(isl.AstBuild.from_context(function.domain().params()).expr_from_pw_aff(function))


def read_condition(expr: isl.AstExpr) -> Condition:
    """A boolean AST expression as a condition."""
    if expr.get_type() == _Expr.op:
        op = expr.get_op_type()
        arguments = [expr.get_op_arg(i) for i in range(expr.get_op_n_arg())]
        if op in _COMPARISONS:
            return Comparison(_COMPARISONS[op], read_index(arguments[0]), read_index(arguments[1]))
        if op in _JUNCTIONS:
            return junction(_JUNCTIONS[op], (read_condition(a) for a in arguments))
    return Comparison(">=", read_index(expr), constant(1))


def read_index(expr: isl.AstExpr) -> Linear:
    """An integer AST expression in normal form."""
    kind = expr.get_type()
    if kind == _Expr.int:
        return constant(expr.int_get_val().to_python())
    if kind == _Expr.id:
        return variable(expr.get_id().get_name())
    op = expr.get_op_type()
    arguments = [expr.get_op_arg(i) for i in range(expr.get_op_n_arg())]
    if op in (_Op.cond, _Op.select):
        return of_atom(Choice(read_condition(arguments[0]), read_index(arguments[1]), read_index(arguments[2])))
    forms = [read_index(a) for a in arguments]
    return _combine(op, forms, expr)


def _combine(op: Any, forms: list[Linear], expr: isl.AstExpr) -> Linear:
    if op in (_Op.min, _Op.max):
        return extreme("min" if op == _Op.min else "max", forms)
    if op == _Op.minus:
        return forms[0] * -1
    left, right = forms
    if op == _Op.add:
        return left + right
    if op == _Op.sub:
        return left - right
    if op == _Op.mul and (left.is_constant or right.is_constant):
        return right * left.constant if left.is_constant else left * right.constant
    if right.is_constant and right.constant > 0:
        if op in (_Op.div, _Op.pdiv_q, _Op.fdiv_q):
            return quotient(left, right.constant, truncates=op != _Op.fdiv_q)
        if op in (_Op.pdiv_r, _Op.zdiv_r):
            return remainder(left, right.constant)
    raise UnsupportedScopError("the schedule needs an index expression that is not quasi-affine", where="emit_c",
                               witness=expr.to_C_str())
