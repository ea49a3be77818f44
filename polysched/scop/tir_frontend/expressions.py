"""Expressions of TVM's tensor IR as values.

Source: Apache TVM, include/tvm/tir/expr.h and op.h: `Div` and `Mod` round towards zero, `FloorDiv` and `FloorMod` down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from polysched.scop.construction import values
from polysched.scop.construction.functions import (
    bitwise,
    call,
    floor_divide,
    modulo,
    reciprocal_root,
    truncated_quotient,
    truncated_remainder,
)
from polysched.scop.construction.quotients import with_bounded_quotient
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, INT32, INT64, DType
from polysched.scop.tir_frontend.nodes import called, dtype_of, kind, type_name

Operator = Callable[[Value, Value], Value]
_BINARY: Mapping[str, Operator] = {
    **{name: partial(values.arithmetic, op) for name, op in {"Add": "+", "Sub": "-", "Mul": "*"}.items()},
    **{name: partial(values.compare, op) for name, op in
       {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}.items()},
    **{name: partial(bitwise, op) for name, op in
       {"BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^", "LShift": "<<", "RShift": ">>"}.items()},
    "Min": partial(values.extremum, "min"), "Max": partial(values.extremum, "max"),
    "And": partial(values.logical, "&&"), "Or": partial(values.logical, "||"),
    "FloorDiv": floor_divide, "FloorMod": modulo}
_CALLED_BITS = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "shift_left": "<<", "shift_right": ">>"}
_FUNCTIONS = ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf",
              "exp", "exp2", "fabs", "floor", "hypot", "log", "log10", "log1p", "log2", "nearbyint", "pow", "sin",
              "sinh", "sqrt", "tan", "tanh", "trunc")
_MATH_H = {"nearbyint": "rint"}


class Reader:
    """Reads expressions.

    Parameters
    ----------
    variable : the value of a variable.
    load : the value of an element: of a load, with its subscripts.
    region : where expressions are evaluated; nothing is known of their place without.
    """

    def __init__(self, variable: Callable[[Any], Value], load: Callable[[Any, Sequence[Value]], Value],
                 region: Region | None = None) -> None:
        self.variable, self.load, self.region = variable, load, region

    def value(self, node: Any) -> Value:
        """An expression.

        Raises
        ------
        CannotExpress : a body has no form for it.
        """
        name = kind(node)
        if name in ("IntImm", "FloatImm", "int", "float"):
            return self._number(node, name)
        if name == "Var":
            return self.variable(node)
        if name == "TensorLoad":
            return self.load(node, [self.value(index) for index in node.indices])
        if name in _BINARY:
            return self._binary(name, self.value(node.a), self.value(node.b))
        if name in ("Div", "Mod"):
            return self._towards_zero(name, self.value(node.a), self.value(node.b))
        if name == "Not":
            return values.logical_not(self.value(node.a))
        if name == "Select":
            return values.select(*(self.value(part) for part in (node.condition, node.true_value, node.false_value)))
        if name == "Cast":
            return self._cast(self.value(node.value), dtype_of(node), type_name(node))
        if name == "Call":
            return self._call(called(node), node)
        raise CannotExpress(f"an expression {name}")

    def _binary(self, name: str, left: Value, right: Value) -> Value:
        result = _BINARY[name](left, right)
        if name not in ("FloorDiv", "FloorMod") or self.region is None:
            return result
        return with_bounded_quotient(self.region, result, left, right, remainder=name == "FloorMod")

    def _chosen(self, condition: Any, then: Any, otherwise: Any) -> Value:
        """What is chosen by a condition; the other side is not evaluated."""
        test = values.truth(self.value(condition))
        if test.condition is None or self.region is None:
            return values.select(test, self.value(then), self.value(otherwise))
        with self.region.guard(test.condition):
            one = self.value(then)
        with self.region.guard(test.condition.complement()):
            other = self.value(otherwise)
        return values.select(test, one, other)

    def _number(self, node: Any, name: str) -> Value:
        if name in ("int", "float"):
            return values.number(node)
        dtype = dtype_of(node)
        if name == "IntImm" and dtype == BOOL:
            return values.number(bool(node.value))
        if name == "IntImm":
            return values.number(int(node.value))
        if dtype is None or not dtype.is_float:
            raise CannotExpress(f"a number of type {type_name(node)}")
        return Value(values.float_literal(float(node.value), dtype), dtype)

    def _towards_zero(self, name: str, left: Value, right: Value) -> Value:
        if left.dtype.is_float:
            return values.divide(left, right) if name == "Div" else call("fmod", (left, right))
        if self.region is not None and left.weak and left.affine is not None and right.affine is not None \
                and self.region.holds(left.affine.nonneg_set().intersect(right.affine.pos_set())):
            return self._binary(f"Floor{name}", left, right)   # no sign: towards zero is down
        return truncated_quotient(left, right) if name == "Div" else truncated_remainder(left, right)

    def _cast(self, value: Value, dtype: DType | None, name: str) -> Value:
        if dtype is None:
            raise CannotExpress(f"a value of type {name}")
        if dtype in (INT32, INT64) and value.weak and value.affine is not None:
            return value   # sizes and loop variables
        return values.cast(value, dtype)

    def _call(self, name: str, node: Any) -> Value:
        if name == "if_then_else":
            return self._chosen(*node.args)
        operands = [self.value(argument) for argument in node.args]
        if name in _CALLED_BITS:
            return bitwise(_CALLED_BITS[name], *operands)
        if name == "sigmoid":
            one = Value(values.float_literal(1.0, operands[0].dtype), operands[0].dtype)
            return values.divide(one, values.arithmetic("+", one, call("exp", (values.negate(operands[0]),))))
        if name == "rsqrt":
            return reciprocal_root(*operands)
        if name not in _FUNCTIONS:
            raise CannotExpress(f"a call of {name}")
        return call(_MATH_H.get(name, name), tuple(operands))
