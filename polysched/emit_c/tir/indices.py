"""Index expressions of the loop IR in TVMScript: 64-bit integers, floor division and remainder.

Source: Apache TVM, TVMScript's printer: `//` is `FloorDiv`, `%` is `FloorMod`.
"""

from __future__ import annotations

from functools import reduce
from keyword import iskeyword

from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Extreme,
    Linear,
    Quotient,
    Remainder,
    Variable,
)
from polysched.emit_c.mlir.names import array_name
from polysched.errors import UnsupportedScopError


def plain(name: str) -> str:
    """The name of an array or parameter as one of Python's; `T` is that of TVMScript itself."""
    own = array_name(name)
    return f"{own}_" if own == "T" or iskeyword(own) else own


def number(value: int) -> str:
    """A constant."""
    return f"T.int64({value})"


def index(form: Linear) -> str:
    """A form.

    Raises
    ------
    UnsupportedScopError : it has a part that tensor IR has no form for.
    """
    parts = [_scaled(_atom(atom), factor) for atom, factor in form.terms]
    if form.constant or not parts:
        parts.append(number(form.constant))
    return " + ".join(parts)


def test(condition: Condition) -> str:
    """A condition.

    Raises
    ------
    UnsupportedScopError : as for `index`.
    """
    if isinstance(condition, Comparison):
        return f"{index(condition.left)} {condition.op} {index(condition.right)}"
    word = {"&&": "and", "||": "or"}[condition.op]
    return f" {word} ".join(f"({test(arm)})" for arm in condition.arms)


def _scaled(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {number(factor)}"


def _atom(atom: object) -> str:
    match atom:
        case Variable(name=name):
            return plain(name)
        case Quotient(numerator=numerator, divisor=divisor):
            return f"(({index(numerator)}) // {number(divisor)})"
        case Remainder(numerator=numerator, divisor=divisor):
            return f"(({index(numerator)}) % {number(divisor)})"
        case Extreme(kind=kind, arms=arms):
            return reduce(lambda left, right: f"T.{kind}({left}, {right})", map(index, arms))
        case _:
            raise UnsupportedScopError("tensor IR has no such index expression",
                                       witness=type(atom).__name__, hint="write the region without tiles")
