"""Sums of values times constants, in the fewest operations: what has the same factor is added first.

Rewrite:  e * x + e * y + e * z + c                    ->  e * (x + y + z) + c
          e * (x - 2 * c + y) + e * (z - 2 * c + w)    ->  e * (x + y + (z + w)) - 4 * e * c     (4 * e is one constant)

Floats only, and only where fewer operations are left, a product and its addition counted as one.  Values are added
in pairs, so that chains of operations that wait for each other stay short.  Every sum may be rounded in another way
than the program's: leave to reassociate is needed.

Source: A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman, "Compilers", 2nd edition, section 8.5.4 (algebraic identities).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite

import numpy as np

from polysched.emit_c.bodies.operations import adds_product
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    Literal,
    Load,
    Perform,
    Select,
    Unary,
    While,
    children,
    rebuild,
    walk,
    with_children,
)
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from polysched.scop.scop import Scop, Statement

_ROUNDED: dict[DType, type[np.float64] | type[np.float32]] = {FLOAT64: np.float64, FLOAT32: np.float32}


def collected(scop: Scop, *, but: Collection[str]) -> Scop:
    """The Scop with the linear combinations of its bodies collected.

    Parameters
    ----------
    but : statements that stay as they are.
    """
    statements = tuple(s if s.name in but else _collected(s) for s in scop.statements)
    changed = any(new is not old for new, old in zip(statements, scop.statements, strict=True))
    return replace(scop, statements=statements) if changed else scop


def _collected(statement: Statement) -> Statement:
    places = {a.reference: (a.array, a.subscripts) for a in statement.accesses}
    first = {place: reference for reference, place in reversed(places.items())}
    same = {reference: first[place] for reference, place in places.items()}
    body = tuple(_rewritten(item, lambda top: _in_expression(top, same)) for item in statement.body)
    return statement if body == statement.body else replace(statement, body=body)


def _rewritten(item: BodyStatement, change: Callable[[Expr], Expr]) -> BodyStatement:
    """The values that are assigned; conditions stay."""
    match item:
        case Assign():
            return replace(item, value=change(item.value))
        case If():
            return replace(item, then=tuple(_rewritten(i, change) for i in item.then),
                           otherwise=tuple(_rewritten(i, change) for i in item.otherwise))
        case While() | Perform():
            return item


def _in_expression(expr: Expr, same: Mapping[str, str]) -> Expr:
    """Every outermost linear combination below an expression, its values first."""
    if not _is_sum(expr):
        parts = tuple(_in_expression(child, same) for child in children(expr))
        return with_children(expr, parts)
    terms = _terms(expr, expr.dtype)
    if terms is None:
        return expr
    inner = [(_in_expression(value, same), factor) for value, factor in terms]
    found = _combination(inner, expr.dtype, same)
    return found if found is not None and _cost(found, same) < _cost(expr, same) else expr


def _is_sum(expr: Expr) -> bool:
    return expr.dtype in _ROUNDED and isinstance(expr, Binary) and expr.op in ("+", "-")


def _terms(expr: Expr, dtype: DType) -> list[tuple[Expr, Fraction]] | None:
    """Values and their constant factors, in the order of the program; None where a constant is no number."""
    try:
        return list(_flat(expr, Fraction(1), dtype))
    except (OverflowError, ValueError):
        return None


def _flat(expr: Expr, factor: Fraction, dtype: DType) -> Iterator[tuple[Expr, Fraction]]:
    if expr.dtype == dtype:
        match expr:
            case Binary(op="+" | "-" as op):
                yield from _flat(expr.left, factor, dtype)
                yield from _flat(expr.right, factor if op == "+" else -factor, dtype)
                return
            case Binary(op="*") if (taken := _taken_out(expr, dtype)) is not None:
                yield from _flat(taken[0], factor * taken[1], dtype)
                return
            case Unary(op="-" | "+" as op):
                yield from _flat(expr.operand, factor if op == "+" else -factor, dtype)
                return
            case _:
                pass
    value = _constant(expr, dtype)
    if value is not None:
        yield _literal(Fraction(1), dtype), factor * value
    else:
        yield (expr if expr.dtype == dtype else Cast(expr, dtype)), factor


def _taken_out(product: Expr, dtype: DType) -> tuple[Expr, Fraction] | None:
    """A product without its first constant factor, and that factor; None where there is none."""
    if not isinstance(product, Binary) or product.op != "*" or product.dtype != dtype:
        return None
    for value, other in ((product.left, product.right), (product.right, product.left)):
        factor = _constant(value, dtype)
        if factor is not None:
            return other, factor
    for value, on_left in ((product.left, True), (product.right, False)):
        taken = _taken_out(value, dtype)
        if taken is not None and taken[0].dtype == dtype:
            return (replace(product, left=taken[0]) if on_left else replace(product, right=taken[0])), taken[1]
    return None


def _constant(expr: Expr, dtype: DType) -> Fraction | None:
    """The value of a constant in a type of floats, as C converts it."""
    match expr:
        case Literal():
            value = float(expr.value)
            return Fraction(_rounded(_rounded(value, expr.dtype) if expr.dtype in _ROUNDED else value, dtype))
        case Cast() if expr.dtype in _ROUNDED:
            inner = _constant(expr.operand, expr.dtype)
            return None if inner is None else Fraction(_rounded(float(inner), dtype))
        case _:
            return None


def _combination(terms: list[tuple[Expr, Fraction]], dtype: DType, same: Mapping[str, str]) -> Expr | None:
    """The sum of the terms; None where values cancel or a factor is no number of the type."""
    factors: dict[Expr, Fraction] = {}
    spelled: dict[Expr, Expr] = {}
    for value, factor in terms:
        key = _canonical(value, same)
        spelled.setdefault(key, value)
        factors[key] = factors.get(key, Fraction(0)) + factor
    constant = factors.pop(_literal(Fraction(1), dtype), None)
    groups: dict[Fraction, _Group] = {}
    for key, factor in factors.items():
        group = groups.setdefault(abs(factor), _Group([], []))
        (group.added if factor > 0 else group.subtracted).append(spelled[key])
    if constant is not None and _is_number(constant, dtype):
        group = groups.setdefault(Fraction(1), _Group([], []))
        (group.added if constant > 0 else group.subtracted).append(_literal(abs(constant), dtype))
    elif constant is not None:
        return None
    if not all(_is_number(size, dtype) for size in groups):
        return None
    # The largest group last: its sum takes the longest.  One that starts with a value that is added goes first.
    order = sorted(groups.items(), key=lambda pair: len(pair[1]))
    start = next((pair for pair in order if pair[1].added), None)
    if start is None:
        return None
    total = _times(start[0], start[1].total(dtype), dtype)
    for size, group in order:
        if group is start[1]:
            continue
        if group.added:
            total = Binary("+", _times(size, group.total(dtype), dtype), total, dtype)
        else:
            total = Binary("-", total, _times(size, _in_pairs(group.subtracted, dtype), dtype), dtype)
    return total


@dataclass(frozen=True)
class _Group:
    """Values with the same factor but for its sign."""

    added: list[Expr]
    subtracted: list[Expr]

    def __len__(self) -> int:
        return len(self.added) + len(self.subtracted)

    def total(self, dtype: DType) -> Expr:
        """Of a group in which some value is added."""
        added = _in_pairs(self.added, dtype)
        return Binary("-", added, _in_pairs(self.subtracted, dtype), dtype) if self.subtracted else added


def _in_pairs(values: list[Expr], dtype: DType) -> Expr:
    """The sum of neighbours, of neighbours of these, and so on."""
    while len(values) > 1:
        pairs: list[Expr] = [Binary("+", a, b, dtype) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(values) - len(values) % 2:]
    return values[0]


def _times(factor: Fraction, value: Expr, dtype: DType) -> Expr:
    return value if factor == 1 else Binary("*", _literal(factor, dtype), value, dtype)


def _literal(value: Fraction, dtype: DType) -> Literal:
    rounded = _ROUNDED[dtype](float(value))
    return Literal(f"{rounded!s}{'f' if dtype == FLOAT32 else ''}", float(rounded), dtype)


def _rounded(value: float, dtype: DType) -> float:
    with np.errstate(over="ignore"):
        return float(_ROUNDED[dtype](value))


def _is_number(value: Fraction, dtype: DType) -> bool:
    try:
        rounded = abs(_rounded(float(value), dtype))
    except OverflowError:
        return False
    return isfinite(rounded) and rounded >= float(np.finfo(_ROUNDED[dtype]).tiny)


def _cost(expr: Expr, same: Mapping[str, str]) -> int:
    """Operations on floats, a product and its addition one, and the same one only once."""
    parts = {part for part in walk(_canonical(expr, same)) if part.dtype.is_float}
    computed = [p for p in parts if isinstance(p, Binary | Call | Select) or (isinstance(p, Unary) and p.op == "-")]
    return len(computed) - sum(map(adds_product, computed))


def _canonical(expr: Expr, same: Mapping[str, str]) -> Expr:
    """The expression where reads of one element are one."""
    return rebuild(expr, lambda e: replace(e, reference=same[e.reference]) if isinstance(e, Load) else e)
