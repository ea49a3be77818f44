"""Values of statements in TVMScript, each conversion written out.

Source: Apache TVM, TVMScript: `T.float32(x)`, `T.Cast`, `T.if_then_else`, `T.truncdiv`, calls of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.tir.indices import index, plain
from polysched.errors import UnsupportedScopError
from polysched.scop.body import (
    COMPARISON,
    LOGICAL,
    Address,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    Unary,
)
from polysched.scop.dtypes import BOOL, DType, usual_conversion
from polysched.scop.scop import Statement

_FUNCTIONS = {name: name for name in ("exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan",
                                      "tanh", "sinh", "cosh", "asin", "acos", "atan", "erf", "floor", "ceil", "trunc",
                                      "pow", "atan2", "hypot", "copysign")} | {"fabs": "fabs", "rint": "nearbyint"}
"""`fmax` and `fmin` are none: `T.max` may give either side where one is no number."""
_SAME = ("+", "-", "*", "&", "|", "^", "<<", ">>")
_WRAPS = ("+", "-", "*", "<<")
_OF_INTEGERS = {"/": "truncdiv", "%": "truncmod"}


class Values:
    """The values of one statement instance.

    Parameters
    ----------
    iterators : the value of each iterator.
    element : how an element is written, by its reference.
    """

    def __init__(self, statement: Statement, iterators: Sequence[Linear], element: Callable[[str], str]) -> None:
        self.statement, self.iterators, self.element = statement, iterators, element

    def text(self, value: Expr) -> str:
        """An expression, in brackets where an operator may follow.

        Raises
        ------
        UnsupportedScopError : tensor IR has no form for it.
        """
        match value:
            case Literal():
                return literal(value.value, value.dtype)
            case Load():
                return self.element(value.reference)
            case IteratorRef():
                at = self.iterators[self.statement.iterators.index(value.name)]
                return f'T.Cast("{value.dtype.name}", {index(at)})'
            case ParameterRef():
                return f'T.Cast("{value.dtype.name}", {plain(value.name)})'
            case Cast():
                return self.converted(value.operand, value.dtype)
            case Unary():
                return self._unary(value)
            case Binary():
                return self._binary(value)
            case Select():
                then, otherwise = (self.converted(side, value.dtype) for side in (value.then, value.otherwise))
                return f"T.if_then_else({self.truth(value.condition)}, {then}, {otherwise})"
            case Call():
                return self._call(value)
            case Address():
                raise UnsupportedScopError("tensor IR has no addresses", witness=", ".join(value.references))

    def converted(self, value: Expr, dtype: DType) -> str:
        """An expression as another type."""
        if dtype == BOOL:
            return self.truth(value)
        if value.dtype == dtype and not _is_truth(value):
            return self.text(value)
        return f'T.Cast("{dtype.name}", {self.truth(value) if _is_truth(value) else self.text(value)})'

    def truth(self, value: Expr) -> str:
        """An expression as a truth value."""
        match value:
            case Binary() if value.op in COMPARISON:
                common = usual_conversion(value.left.dtype, value.right.dtype)
                return f"({self.converted(value.left, common)} {value.op} {self.converted(value.right, common)})"
            case Binary() if value.op in LOGICAL:
                name = "And" if value.op == "&&" else "Or"
                return f"T.{name}({self.truth(value.left)}, {self.truth(value.right)})"
            case Unary(op="!"):
                return f"T.Not({self.truth(value.operand)})"
            case Cast(dtype=dtype) if dtype == BOOL:
                return self.truth(value.operand)
            case _:
                return f"({self.text(value)} != {literal(0, value.dtype)})"

    def _unary(self, value: Unary) -> str:
        if value.op == "!":
            return self.converted(value, value.dtype)
        operand = self.converted(value.operand, value.dtype)
        match value.op:
            case "+":
                return operand
            case "-":
                self._refuse_wrapping(value)
                return f"({operand} * {literal(-1, value.dtype)})"
            case _:
                ones = -1 if value.dtype.is_signed else (1 << value.dtype.bits) - 1
                return f"({operand} ^ {literal(ones, value.dtype)})"

    def _refuse_wrapping(self, value: Unary | Binary) -> None:
        """Unsigned numbers wrap in C; TVM takes them not to: its simplifier makes `0 - x` zero."""
        if value.op in _WRAPS and value.dtype.is_integer and not value.dtype.is_signed:
            raise UnsupportedScopError(
                f"unsigned arithmetic of {self.statement.name} has no form in tensor IR, which takes it not to wrap",
                witness=f"{value.op} of {value.dtype.c_name}", hint="compute in a signed type")

    def _binary(self, value: Binary) -> str:
        if value.op in COMPARISON | LOGICAL:
            return self.converted(value, value.dtype)
        self._refuse_wrapping(value)
        left, right = self.converted(value.left, value.dtype), self.converted(value.right, value.dtype)
        if value.op in _SAME or (value.op == "/" and value.dtype.is_float):
            return f"({left} {value.op} {right})"
        return f"T.{_OF_INTEGERS[value.op]}({left}, {right})"

    def _call(self, value: Call) -> str:
        name = value.function.removesuffix("f") if value.function.removesuffix("f") in _FUNCTIONS else value.function
        if name not in _FUNCTIONS:
            raise UnsupportedScopError(f"a function of {self.statement.name} has no form in tensor IR",
                                       witness=value.function)
        return f"T.{_FUNCTIONS[name]}({', '.join(self.converted(a, value.dtype) for a in value.arguments)})"


def literal(value: int | float, dtype: DType) -> str:
    """A constant of a type.

    Raises
    ------
    UnsupportedScopError : it is too large.
    """
    if dtype == BOOL:
        return f"T.bool({bool(value)})"
    if not dtype.is_float:
        if value >= 1 << 63:
            raise UnsupportedScopError("TVM holds constants in 64 bits with a sign", witness=str(value))
        return f"T.{dtype.name}({int(value)})"
    text = repr(float(value))
    return f'T.{dtype.name}("{text}")' if text.strip("-") in ("inf", "nan") else f"T.{dtype.name}({text})"


def _is_truth(value: Expr) -> bool:
    """Whether an expression is a truth value in tensor IR, and a number in C."""
    return (isinstance(value, Binary) and value.op in COMPARISON | LOGICAL) or (
        isinstance(value, Unary) and value.op == "!") or value.dtype == BOOL
