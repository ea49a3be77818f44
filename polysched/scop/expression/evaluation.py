"""From a scalar expression to a typed value: the meaning of every node of the language."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.body import Load
from polysched.scop.construction import divisions, functions, values
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, INT64, DType
from polysched.scop.expression.tensors import (
    Axis,
    Conditional,
    Constant,
    Convert,
    Expression,
    Function,
    Operation,
    Read,
    Reduction,
    Symbol,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Scope:
    """What the leaves of an expression mean.

    Parameters
    ----------
    axis, symbol, read : the value of an index, of a symbolic size, of an element.
    guard : opened around the side of a conditional that is chosen by an affine condition.
    quotient : of the result of `//` or `%` and its operands, the result as it is for the instances at hand.
    """

    axis: Callable[[Axis], Value]
    symbol: Callable[[str], Value]
    read: Callable[[Read, tuple[Value, ...]], Value]
    guard: Callable[[isl.Set], AbstractContextManager[None]] = lambda condition: nullcontext()
    quotient: Callable[[str, Value, Value, Value], Value] = lambda op, result, left, right: result


def evaluate(expression: Expression, scope: Scope) -> Value:
    """The value of an expression; reductions must have become stages before.

    Raises
    ------
    CannotExpress : an operation that the types do not allow.
    """
    match expression:
        case Constant():
            return values.number(expression.value)
        case Symbol():
            return scope.symbol(expression.name)
        case Axis():
            return scope.axis(expression)
        case Read():
            return scope.read(expression, tuple(evaluate(i, scope) for i in expression.indices))
        case Convert():
            return values.cast(evaluate(expression.operand, scope), expression.dtype)
        case Operation():
            return _operation(expression.op, [evaluate(a, scope) for a in expression.arguments], scope)
        case Function():
            return _function(expression.name, [evaluate(a, scope) for a in expression.arguments])
        case Conditional():
            return _conditional(expression, scope)
    raise TypeError(f"{type(expression).__name__} has no value of its own")


def _operation(op: str, operands: list[Value], scope: Scope) -> Value:
    if op == "neg":
        return values.negate(operands[0])
    if op == "~":
        return functions.invert(operands[0])
    left, right = operands
    if op in ("+", "-", "*"):
        return values.arithmetic(op, left, right)
    if op in ("<", "<=", ">", ">=", "==", "!="):
        return values.compare(op, left, right)
    if op in ("&", "|", "^", "<<", ">>"):
        return functions.bitwise(op, left, right)
    others = {"/": values.divide, "//": divisions.floor_divide, "%": divisions.modulo, "**": functions.power}
    result = others[op](left, right)
    return scope.quotient(op, result, left, right) if op in ("//", "%") else result


def _function(name: str, operands: list[Value]) -> Value:
    if name in ("min", "max"):
        return values.extremum(name, operands[0], operands[1])
    if name == "abs":
        return functions.absolute(operands[0])
    return functions.call(name, tuple(operands))


def _conditional(expression: Conditional, scope: Scope) -> Value:
    condition = values.truth(evaluate(expression.condition, scope))
    if condition.condition is None:
        return values.select(condition, evaluate(expression.then, scope), evaluate(expression.otherwise, scope))
    with scope.guard(condition.condition):
        then = evaluate(expression.then, scope)
    with scope.guard(condition.condition.complement()):
        otherwise = evaluate(expression.otherwise, scope)
    return values.select(condition, then, otherwise)


def _element_of_nothing(read: Read, indices: tuple[Value, ...]) -> Value:
    return Value(Load("element", read.tensor.dtype), read.tensor.dtype)


SHAPES = Scope(axis=lambda axis: values.iterator(axis.name, axis.name), symbol=values.parameter,
               read=_element_of_nothing)


def type_of(expression: Expression) -> DType:
    """The element type that an expression's value has once it is stored."""
    if isinstance(expression, Reduction):
        if expression.kind.startswith("arg"):
            return INT64
        own = type_of(expression.operand)
        return expression.dtype or (INT64 if own == BOOL and expression.kind in ("sum", "prod") else own)
    try:
        return evaluate(expression, SHAPES).dtype
    except CannotExpress as problem:
        raise UsageError(problem.problem, hint=problem.hint) from None


def size_of(expression: Expression) -> isl.PwAff:
    """A shape expression as an affine function of the symbols.

    Raises
    ------
    UsageError : it is not affine, or not an integer.
    """
    try:
        value = evaluate(expression, SHAPES)
    except CannotExpress as problem:
        raise UsageError(problem.problem, hint=problem.hint) from None
    if value.affine is None:
        raise UsageError("a shape is an affine expression of symbols and constants",
                         hint="give a product of symbols a symbol of its own")
    return value.affine
