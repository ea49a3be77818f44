"""Evaluating an expression on NumPy vectors, with C's conversions and wrapping integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

import numpy as np
import numpy.typing as npt

from polysched.records import dataclass
from polysched.scop.body import (
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
    children,
    distinct,
)
from polysched.scop.dtypes import DType, usual_conversion

Vector = npt.NDArray[np.generic]
_COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
                "==": np.equal, "!=": np.not_equal}
_CALLS = {"fmax": np.fmax, "fmaxf": np.fmax, "fmin": np.fmin, "fminf": np.fmin, "max": np.maximum, "min": np.minimum,
          "abs": np.abs, "fabs": np.abs, "fabsf": np.abs}


class NotEvaluable(Exception):
    """The expression holds something that has no vector form here; the ladder goes on without evaluating."""


def evaluate(e: Expr, values: Mapping[str, Vector]) -> Vector:
    """The value of `e` for every row of the input vectors.

    Raises
    ------
    NotEvaluable : a function or type without a NumPy counterpart, or a division by what may be zero.
    """
    with np.errstate(all="ignore"):
        uses = Counter(id(child) for node in distinct(e) for child in children(node))
        return _Evaluation(values, uses).value(e)


def numpy_dtype(dtype: DType) -> np.dtype[np.generic]:
    """NumPy's type of the same name."""
    if dtype.name in ("bfloat16", "longdouble"):
        raise NotEvaluable(f"NumPy has no {dtype.name}")
    return np.dtype(dtype.name)


@dataclass(eq=False)
class _Evaluation:
    """The values of an expression; what several places share is computed once, and kept until the last of them.

    Parameters
    ----------
    uses : per node, by identity, the places that have not asked for its value yet.
    """

    values: Mapping[str, Vector]
    uses: Counter[int]
    known: dict[int, Vector] = field(default_factory=dict)

    def value(self, e: Expr) -> Vector:
        """Of one node, for one place."""
        found = self.known.get(id(e))
        if found is None:
            found = self._of(e)
        self.uses[id(e)] -= 1
        if self.uses[id(e)] > 0:
            self.known[id(e)] = found
        else:
            self.known.pop(id(e), None)
        return found

    def _of(self, e: Expr) -> Vector:
        match e:
            case Literal():
                return np.asarray(e.value).astype(numpy_dtype(e.dtype))
            case Load():
                return self.values[e.reference]
            case IteratorRef() | ParameterRef():
                return self.values[e.name]
            case Cast():
                return _converted(self.value(e.operand), e.dtype)
            case Unary():
                inner = self.value(e.operand)
                if e.op == "!":
                    return _converted(np.equal(inner, 0), e.dtype)
                return {"-": np.negative, "+": np.positive, "~": np.invert}[e.op](_converted(inner, e.dtype))
            case Select():
                chosen = np.not_equal(self.value(e.condition), 0)
                then, other = (_converted(self.value(x), e.dtype) for x in (e.then, e.otherwise))
                return np.where(chosen, then, other)
            case Call() if e.function in _CALLS:
                arguments = [_converted(self.value(a), e.dtype) for a in e.arguments]
                return np.asarray(_CALLS[e.function](*arguments))
            case Binary():
                return self._operation(e)
        raise NotEvaluable(f"no vector form of {e.function if isinstance(e, Call) else type(e).__name__}")

    def _operation(self, e: Binary) -> Vector:
        left, right = self.value(e.left), self.value(e.right)
        if e.op in _COMPARISONS:
            common = usual_conversion(e.left.dtype, e.right.dtype)
            return _converted(_COMPARISONS[e.op](_converted(left, common), _converted(right, common)), e.dtype)
        if e.op in ("&&", "||"):
            a, b = np.not_equal(left, 0), np.not_equal(right, 0)
            return _converted(a & b if e.op == "&&" else a | b, e.dtype)
        if e.op in ("<<", ">>"):
            a, amount = _converted(left, e.dtype), _converted(right, e.dtype)
            return np.left_shift(a, amount) if e.op == "<<" else np.right_shift(a, amount)
        if e.op in ("/", "%") and e.dtype.is_integer and isinstance(e.right, Literal) and e.right.value > 0:
            return _divided(_converted(left, e.dtype), _converted(right, e.dtype), e.op)
        operator = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
                    "^": np.bitwise_xor}.get(e.op)
        if operator is None:
            raise NotEvaluable(f"{e.op} may be undefined")
        return np.asarray(operator(_converted(left, e.dtype), _converted(right, e.dtype)))


def _divided(a: Vector, b: Vector, op: str) -> Vector:
    """Quotient or remainder by a positive number, rounded towards zero as in C."""
    quotient = np.floor_divide(a, b)
    rest = np.subtract(a, np.multiply(quotient, b))
    up = np.logical_and(np.not_equal(rest, 0), np.less(a, 0))
    if op == "/":
        return np.asarray(np.add(quotient, up.astype(quotient.dtype)))
    return np.asarray(np.where(up, np.subtract(rest, b), rest))


def _converted(value: Vector, dtype: DType) -> Vector:
    return np.asarray(value).astype(numpy_dtype(dtype))
