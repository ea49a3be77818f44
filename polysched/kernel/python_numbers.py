"""Python numbers of a call that do not fit the type which they take where they meet a NumPy value.

`x[i] += n` computes in the type of x (NEP 50).  Python's numbers have no size, so NumPy refuses `x[0] += 2**40` for
an `int32` array; C would cut the number off.  Numbers are checked that arguments, shapes and constants give by sums
and products; those of loop counters are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Cast,
    Expr,
    If,
    Literal,
    ParameterRef,
    Perform,
    Unary,
    While,
    children,
    walk,
)
from polysched.scop.dtypes import INT32, UINT32, DType, promote
from polysched.scop.scop import Scop

OPERATORS = frozenset("+-*")
COMPUTING = frozenset("+-*/%&|^")


@dataclass(frozen=True, eq=False, kw_only=True)
class PythonNumbers:
    """The conversions of a program that a call's numbers have to survive.

    Parameters
    ----------
    scop : the program.
    typed : parameters that are NumPy's numbers, which wrap around.
    """

    scop: Scop
    typed: frozenset[str] = frozenset()

    @cached_property
    def conversions(self) -> tuple[tuple[Expr, DType], ...]:
        """Each number by parameters alone, with the integer type that it takes."""
        pairs = (pair for s in self.scop.statements for pair in _conversions(s.body))
        return tuple(dict.fromkeys((value, dtype) for value, dtype in pairs
                                   if dtype.is_integer and self._is_number(value)))

    def check(self, sizes: Mapping[str, int]) -> None:
        """Refuse numbers that their type does not hold.

        Raises
        ------
        UsageError : the message has the number and the type.
        """
        for value, dtype in self.conversions:
            number, (low, high) = _computed(value, sizes), dtype.value_range()
            if not low <= number <= high:
                raise UsageError(f"{self.scop.name}: the Python number {_text(value)} is {number}, which {dtype} does "
                                 "not hold", hint="it takes the type of the NumPy value that it meets: at least "
                                                  f"{low} and at most {high}")

    def _is_number(self, value: Expr) -> bool:
        """Whether a value is an integer by parameters, and one of them at least; constants were checked before."""
        parts = list(walk(value))
        return value.dtype.is_integer and any(isinstance(e, ParameterRef) for e in parts) and all(
            (isinstance(e, ParameterRef) and e.name not in self.typed)
            or (isinstance(e, Literal) and isinstance(e.value, int))
            or (isinstance(e, Binary | Unary) and e.op in OPERATORS) for e in parts)


def _conversions(body: tuple[BodyStatement, ...]) -> Iterator[tuple[Expr, DType]]:
    """Values and the types that they take; what stands on branches perhaps does not run, and is not looked at."""
    for item in body:
        match item:
            case Assign():
                if item.op is not None:
                    yield _unpromoted(item.value), item.dtype
                yield from _inside(item.value)
            case If() | While():
                yield from _inside(item.condition)
            case Perform():
                yield from _inside(item.call)


def _inside(value: Expr) -> Iterator[tuple[Expr, DType]]:
    """The conversions in an expression.

    C computes with short integers in longer ones and cuts off the result: the other operand then has its type.
    """
    for e in walk(value):
        if isinstance(e, Cast):
            yield e.operand, e.dtype
            if promote(e.dtype) != e.dtype:
                yield from _beside(e.operand, e.dtype)


def _beside(value: Expr, dtype: DType) -> Iterator[tuple[Expr, DType]]:
    """The operands beside those of a short type; comparisons cut nothing off."""
    for e in walk(value):
        if isinstance(e, Binary) and e.op in COMPUTING:
            sides = _unpromoted(e.left), _unpromoted(e.right)
            yield from ((one, dtype) for one, other in (sides, sides[::-1]) if other.dtype == dtype)


def _unpromoted(value: Expr) -> Expr:
    """The value before C's promotion to int, or to unsigned int, in which products wrap around."""
    return value.operand if isinstance(value, Cast) and value.dtype in (INT32, UINT32) else value


def _computed(value: Expr, sizes: Mapping[str, int]) -> int:
    """The number, computed as Python does."""
    match value:
        case ParameterRef(name=name):
            return sizes[name]
        case Literal(value=int(number)):
            return number
        case Unary(op=op, operand=operand):
            number = _computed(operand, sizes)
            return -number if op == "-" else number
        case Binary(op=op, left=left, right=right):
            first, second = _computed(left, sizes), _computed(right, sizes)
            return first + second if op == "+" else first - second if op == "-" else first * second
    raise TypeError(f"{type(value).__name__} is no number by parameters")


def _text(value: Expr) -> str:
    match value:
        case ParameterRef(name=name):
            return name
        case Literal(text=text):
            return text
        case Unary(op=op, operand=operand):
            return f"{op}{_text(operand)}"
        case _:
            op = value.op if isinstance(value, Binary) else "?"
            return f"({f' {op} '.join(_text(child) for child in children(value))})"
