"""Pieces of C text that know how tightly they bind, so that parentheses stand only where C needs them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import partial, reduce

from polysched.records import dataclass


class Level(IntEnum):
    """Precedence of C operators, loosest first (C11, section 6.5)."""

    ASSIGNMENT = 1
    CONDITIONAL = 2
    LOGICAL_OR = 3
    LOGICAL_AND = 4
    BIT_OR = 5
    BIT_XOR = 6
    BIT_AND = 7
    EQUALITY = 8
    RELATIONAL = 9
    SHIFT = 10
    ADDITIVE = 11
    MULTIPLICATIVE = 12
    UNARY = 13
    POSTFIX = 14
    PRIMARY = 15


DIRECTIVES = ("#define", "#undef", "#if", "#elif", "#else", "#endif")
"""Lines that start in the first column, by custom; pragmas are indented with their loops."""

BINARY_LEVEL: dict[str, Level] = {
    "||": Level.LOGICAL_OR, "&&": Level.LOGICAL_AND, "|": Level.BIT_OR, "^": Level.BIT_XOR, "&": Level.BIT_AND,
    "==": Level.EQUALITY, "!=": Level.EQUALITY, "<": Level.RELATIONAL, "<=": Level.RELATIONAL,
    ">": Level.RELATIONAL, ">=": Level.RELATIONAL, "<<": Level.SHIFT, ">>": Level.SHIFT,
    "+": Level.ADDITIVE, "-": Level.ADDITIVE,
    "*": Level.MULTIPLICATIVE, "/": Level.MULTIPLICATIVE, "%": Level.MULTIPLICATIVE,
}
# Mixtures that compilers warn about although the meaning is defined: both sides get parentheses.
_ALWAYS_PARENTHESISED = frozenset({Level.BIT_OR, Level.BIT_XOR, Level.BIT_AND, Level.SHIFT, Level.EQUALITY,
                                   Level.RELATIONAL})


@dataclass(frozen=True)
class CText:
    """An expression's text and the precedence of its outermost operator."""

    code: str
    level: Level = Level.PRIMARY

    def at(self, level: Level) -> str:
        """The text, parenthesised when it binds looser than `level`."""
        return self.code if self.level >= level else f"({self.code})"

    def __str__(self) -> str:
        return self.code


def binary(op: str, left: CText, right: CText) -> CText:
    """`left op right`; a right operand of the same level keeps its parentheses, since C groups to the left."""
    level = BINARY_LEVEL[op]
    if level in _ALWAYS_PARENTHESISED:
        inner = Level.ADDITIVE if level in (Level.EQUALITY, Level.RELATIONAL) else Level.UNARY
        return CText(f"{left.at(inner)} {op} {right.at(inner)}", level)
    if level is Level.LOGICAL_OR:
        return CText(f"{_no_and(left)} {op} {_no_and(right)}", level)
    return CText(f"{left.at(level)} {op} {right.at(Level(level + 1))}", level)


def joined(op: str, operands: Sequence[CText]) -> CText:
    """`a op b op c`, of at least one."""
    return reduce(partial(binary, op), operands)


def _no_and(side: CText) -> str:
    return f"({side.code})" if side.level in (Level.LOGICAL_AND,) else side.at(Level.LOGICAL_OR)


def unary(op: str, operand: CText) -> CText:
    """`op operand`; two equal signs never meet."""
    text = operand.at(Level.UNARY)
    return CText(f"{op}({operand.code})" if text[0] in "+-" and op in "+-" else f"{op}{text}", Level.UNARY)


def other_lanes(mask: CText) -> CText:
    """`~mask`; `mask` for `~mask`, since a vector stays of its type."""
    return CText(mask.code[1:], Level.UNARY) if mask.code.startswith("~") and mask.level == Level.UNARY else unary(
        "~", mask)


def cast(c_name: str, operand: CText) -> CText:
    """`(T)operand`."""
    return CText(f"({c_name}){operand.at(Level.UNARY)}", Level.UNARY)


def call(function: str, arguments: list[CText]) -> CText:
    """`function(a, b)`."""
    return CText(f"{function}({', '.join(a.at(Level.ASSIGNMENT) for a in arguments)})", Level.POSTFIX)


def conditional(condition: CText, then: CText, otherwise: CText) -> CText:
    """`condition ? then : otherwise`."""
    return CText(f"{condition.at(Level.LOGICAL_OR)} ? {then.at(Level.LOGICAL_OR)} : {otherwise.at(Level.CONDITIONAL)}",
                 Level.CONDITIONAL)
