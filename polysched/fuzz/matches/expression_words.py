"""Expressions in other words: operands change places, numbers and types are respelled."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from polysched.fuzz.matches.c_tree import (
    COMPARISONS,
    INT,
    Assign,
    Binary,
    Choice,
    Converted,
    CType,
    Element,
    Expr,
    Function,
    Number,
    Unary,
    promoted,
    replaced_at,
    type_of,
    walk,
)

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
POWERS: Mapping[str, tuple[str, Callable[[int], int]]] = {
    "*": ("<<", lambda value: value.bit_length() - 1), "/": (">>", lambda value: value.bit_length() - 1),
    "%": ("&", lambda value: value - 1)}
"""Operations by a power of two, and what is the same, with its number."""
SHIFTS = {"<<": "*", ">>": "/"}


def other_spellings(source: random.Random, function: Function) -> Function:
    """int, short and unsigned char instead of stdint.h's names."""
    return replace(function, respelled=True)


def expression(source: random.Random, function: Function) -> Function | None:
    """One operation in other words: operands change places, a cast that changes nothing, a number respelled."""
    places = [(at, new) for at, e in enumerate(walk(function.body)) if isinstance(e, Expr)
              and not _is_target(function, at) for new in _same(source, e, function.types)]
    if not places:
        return None
    at, new = source.choice(places)
    return replace(function, body=replaced_at(function.body, at, new))


def _is_target(function: Function, at: int) -> bool:
    """Whether a position holds the target of an assignment."""
    before: Any = None
    for n, value in enumerate(walk(function.body)):
        if n == at:
            return isinstance(before, Assign)
        before = value
    return False


def _same(source: random.Random, e: Expr, types: dict[str, CType]) -> Iterator[Expr]:
    """Other spellings of one expression, of the same type and value."""
    own = type_of(e, types)
    if isinstance(e, Number):
        yield from _numbers(e)
        return
    if not isinstance(e, Element) or e.subscripts:
        yield Converted(own.name, e)
    match e:
        case Converted():
            if type_of(e.of, types) == own:
                yield e.of
        case Binary(op="+" | "*" | "&" | "|" | "^" | "==" | "!="):
            yield Binary(e.op, e.right, e.left)
        case Binary() if e.op in COMPARISONS:
            yield Binary(MIRRORED[e.op], e.right, e.left)
        case Choice(test=Binary(op=op) as test) if op in OPPOSITE and not _is_float(test, types):
            yield Choice(Binary(OPPOSITE[op], test.left, test.right), e.otherwise, e.then)
    if isinstance(e, Binary):
        yield from _operations(e, own, types)


def _is_float(test: Binary, types: dict[str, CType]) -> bool:
    return any(type_of(e, types).is_float for e in (test.left, test.right))


def _operations(e: Binary, own: CType, types: dict[str, CType]) -> Iterator[Expr]:
    """Products, quotients and masks by powers of two; operands converted to the common type, as C does it anyway."""
    if e.op in ("+", "-", "*", "/", "&", "|", "^") and type_of(e.left, types) != own:
        yield Binary(e.op, Converted(own.name, e.left), e.right)
    if e.op in ("+", "-", "*", "/", "&", "|", "^") and type_of(e.right, types) != own:
        yield Binary(e.op, e.left, Converted(own.name, e.right))
    if e.op == "+" and e.left == e.right:
        yield Binary("*", Number("2"), e.left)
    if own.is_float or not isinstance(e.right, Number) or e.right.is_float or type_of(e.right, types) != INT:
        return
    left = type_of(e.left, types)
    yield from _by_power(e, e.right.value, left)
    if e.op == "-" and promoted(left) == own:
        yield Binary("+", e.left, Number(f"-{e.right.value}") if e.right.value > 0 else Unary("-", e.right))


def _by_power(e: Binary, value: int, left: CType) -> Iterator[Expr]:
    """The same by a power of two or as a shift; of signed numbers only what does not round."""
    keeps_sign = e.op in ("*", "<<") or not left.signed
    if e.op in POWERS and value > 1 and value & (value - 1) == 0 and keeps_sign:
        op, number = POWERS[e.op]
        yield Binary(op, e.left, Number(str(number(value))))
    if e.op in SHIFTS and value < 31 and keeps_sign:
        yield Binary(SHIFTS[e.op], e.left, Number(str(1 << value)))


def _numbers(e: Number) -> Iterator[Expr]:
    if e.is_float:
        return
    if 0 <= e.value <= INT.range[1]:
        digits = str(e.value) if e.digits.startswith("0x") else hex(e.value)
        yield Number(digits + e.suffix)
        yield Number(e.digits + e.suffix.upper())
        if not e.suffix and e.value > 1:
            yield Binary("+", Number(str(e.value - 1)), Number("1"))
        if not e.suffix:
            yield Converted(INT.name, e)
