"""Subscripts of accesses as linear forms over the variables of the loop IR."""

from __future__ import annotations

from collections.abc import Mapping

from polysched.emit_c.loop_ir.index import (
    Choice,
    Comparison,
    Linear,
    SourceOperation,
    Variable,
    constant,
    of_atom,
    source_operation,
    variable,
    variables,
)
from polysched.scop.body import (
    Binary,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    ParameterRef,
    Select,
    Unary,
    passed_references,
)
from polysched.scop.dtypes import INT32, INT64, Kind
from polysched.scop.scop import Access, Statement


def names_its_element(statement: Statement, access: Access) -> bool:
    """Whether an access reaches what its subscripts say, not what a function reaches from there on."""
    return not access.subscripts or access.reference not in passed_references(statement.body)


def linear_form(expr: Expr, iterators: Mapping[str, Linear]) -> Linear | None:
    """A signed integer expression as a linear form of loop variables; None when it is not one."""
    if expr.dtype.kind is not Kind.SIGNED or expr.dtype.bits < INT32.bits:
        return None
    match expr:
        case Literal(value=value) if isinstance(value, int):
            return constant(value)
        case IteratorRef(name=name):
            return iterators.get(name)
        case ParameterRef(name=name):
            return variable(name)
        case Unary(op="+" | "-", operand=operand):
            form = linear_form(operand, iterators)
            return form if form is None or expr.op == "+" else form * -1
        case Binary(op="+" | "-" | "*"):
            return _linear_binary(expr, iterators)
        case Binary(op=op, left=left, right=Literal(value=int(number))) if _divides(op, number):
            divided = linear_form(left, iterators)
            return None if divided is None else source_operation(op, divided, number)
        case Cast(operand=operand, dtype=dtype) if dtype == INT64:
            return linear_form(operand, iterators)
        case Select():
            return _linear_choice(expr, iterators)
        case _:
            return None


def _divides(op: str, number: int) -> bool:
    """Whether an operation with this number on its right divides its left side, or cuts it off, by a constant."""
    if op == "&":
        return number > 0 and number & (number + 1) == 0
    return (op in ("/", "%") and number > 0) or (op == ">>" and 0 <= number < INT32.bits)


def _linear_binary(expr: Binary, iterators: Mapping[str, Linear]) -> Linear | None:
    left, right = linear_form(expr.left, iterators), linear_form(expr.right, iterators)
    if left is None or right is None:
        return None
    if expr.op in "+-":
        total = left + right if expr.op == "+" else left - right
        return total if _moves_plainly(total) else None
    if left.is_constant:
        return right * left.constant
    return left * right.constant if right.is_constant else None


def _linear_choice(chosen: Select, iterators: Mapping[str, Linear]) -> Linear | None:
    condition = comparison_of(chosen.condition, iterators)
    then, otherwise = linear_form(chosen.then, iterators), linear_form(chosen.otherwise, iterators)
    if condition is None or then is None or otherwise is None:
        return None
    return of_atom(Choice(condition, then, otherwise))


def comparison_of(condition: Expr, iterators: Mapping[str, Linear]) -> Comparison | None:
    """A comparison of signed integer expressions that are linear forms; None for anything else."""
    if not isinstance(condition, Binary) or condition.op not in ("<", "<=", ">", ">=", "=="):
        return None
    left, right = linear_form(condition.left, iterators), linear_form(condition.right, iterators)
    return None if left is None or right is None else Comparison(condition.op, left, right)


def _moves_plainly(form: Linear) -> bool:
    """Whether no variable stands both by itself and in an operation: its coefficient tells how it moves the form."""
    plain = {atom.name for atom, _ in form.terms if isinstance(atom, Variable)}
    return not any(variables(of_atom(atom)) & plain for atom, _ in form.terms
                   if isinstance(atom, SourceOperation | Choice))
