"""Arithmetic that runs where, or in an order in which, the source does not run it: no signed overflow of its own.

Rewrite:  s += x             ->  s += (unsigned int)x                 (an order of updates that is not the source's)
          s = s - x          ->  s = s - (unsigned int)x
          c ? x + y : 0      ->  c ? (int)((unsigned int)x + (unsigned int)y) : 0      (lanes that compute both sides)

A sum of signed integers whose value fits may have partial results that do not, and C gives those no meaning.  Unsigned
arithmetic wraps around (C11 6.2.5) and ends with the same bits; what does not fit is converted to a signed type
modulo 2^n (GCC manual, section 4.5, "Integers"; clang does the same).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial

from polysched.dependence.dependences import Dependences
from polysched.dependence.legality import LEGALITY_OPERATIONS, violation
from polysched.dependence.reductions import Reduction
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Cast,
    Expr,
    If,
    Literal,
    Load,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from polysched.scop.budget import with_budget
from polysched.scop.dtypes import BY_NAME, UINT16, DType, Kind, promote, usual_conversion
from polysched.scop.scop import Scop, Statement
from polysched.tiling.tiled_schedule import TiledSchedule

OVERFLOWING = frozenset({"+", "-", "*"})


def unsigned(dtype: DType) -> DType:
    """The unsigned type of the width of a signed one; any other type itself."""
    return BY_NAME[f"u{dtype.name}"] if dtype.kind is Kind.SIGNED else dtype


def can_overflow(operator: str, dtype: DType) -> bool:
    """Whether partial results of a reduction may leave the range of the signed type in which C computes them."""
    return operator in ("sum", "product") and promote(dtype).kind is Kind.SIGNED and dtype.kind is not Kind.BOOL


def accumulator(operator: str, dtype: DType) -> DType:
    """The type of a variable that sums up elements of a type.

    Short ones stay signed: C computes with them in int, which has room for the product of two shorts.  For int the
    variable has to be unsigned: gcc 12 finds no `vpmaddwd` in `s += (unsigned int)(x[i] * y[i])` with an int s.
    """
    return unsigned(dtype) if can_overflow(operator, dtype) and dtype.bits >= 32 else dtype


def with_wrapping_sums(scop: Scop, reductions: Iterable[Reduction]) -> Scop:
    """The Scop in which sums and products of integers wrap around; the same object where there are none."""
    changed = {r.statement: _wrapping(scop.statement(r.statement), r) for r in reductions if can_wrap(r)}
    if not changed:
        return scop
    return replace(scop, statements=tuple(changed.get(s.name, s) for s in scop.statements))


def turned_by(tiled: TiledSchedule, reductions: Iterable[Reduction]) -> tuple[Reduction, ...]:
    """The signed sums and products whose updates a schedule does not run in the order of the source."""
    dependences = tiled.schedule.dependences
    return tuple(r for r in reductions if r.statement in dependences.relaxed and can_wrap(r) and with_budget(
        LEGALITY_OPERATIONS, partial(_keeps_order, dependences, tiled, r)) is not True)


def _keeps_order(dependences: Dependences, tiled: TiledSchedule, reduction: Reduction) -> bool:
    others = tuple(name for name in dependences.relaxed if name != reduction.statement)
    return violation(replace(dependences, relaxed=others), tiled.tree) is None


def can_wrap(reduction: Reduction) -> bool:
    """Whether one of the accumulators may have partial results that leave the range of its type."""
    return any(can_overflow(part.operator, part.dtype) for part in reduction.accumulators)


def _wrapping(statement: Statement, reduction: Reduction) -> Statement:
    parts = {target: part for part in reduction.accumulators if can_overflow(part.operator, part.dtype)
             for target in (part.write, *part.also)}
    return replace(statement, body=tuple(_wrapping_item(item, parts) for item in statement.body))


def _wrapping_item(item: BodyStatement, parts: Mapping[str, Reduction]) -> BodyStatement:
    match item:
        case If():
            return replace(item, then=tuple(_wrapping_item(inner, parts) for inner in item.then),
                           otherwise=tuple(_wrapping_item(inner, parts) for inner in item.otherwise))
        case Assign() if item.target in parts:
            return _wrapping_update(item, parts[item.target])
        case _:
            return item


def _wrapping_update(update: Assign, part: Reduction) -> Assign:
    if update.op is None:
        value = _along(update.value, part.reads)
    elif update.dtype.bits < 32 and (part.operator, update.dtype) != ("product", UINT16):
        value = _converted(update.value, unsigned(update.dtype))   # an int has room for the sum, or product, of the two
    else:
        value = _as_unsigned(update.value, usual_conversion(update.dtype, update.value.dtype))
    return replace(update, value=value)


def _along(value: Expr, reads: Collection[str]) -> Expr:
    """The operations between the old value of a sum and its new one, unsigned."""
    match value:
        case Load() if value.dtype.bits >= 32:
            return replace(value, dtype=unsigned(value.dtype))
        case Cast():
            return Cast(_along(value.operand, reads), unsigned(value.dtype))
        case Select():
            return replace(value, then=_along(value.then, reads), otherwise=_along(value.otherwise, reads),
                           dtype=unsigned(value.dtype))
        case Binary() if _is_below(value.left, reads):
            return replace(value, left=_along(value.left, reads), right=_as_unsigned(value.right, value.dtype),
                           dtype=unsigned(value.dtype))
        case Binary():
            return replace(value, left=_as_unsigned(value.left, value.dtype), right=_along(value.right, reads),
                           dtype=unsigned(value.dtype))
        case _:
            return value


def _is_below(value: Expr, reads: Collection[str]) -> bool:
    return any(isinstance(e, Load) and e.reference in reads for e in walk(value))


def _as_unsigned(value: Expr, dtype: DType) -> Expr:
    """An operand of an operation in a signed type, for the operation in the unsigned one."""
    return value if unsigned(dtype) == dtype else _converted(value, unsigned(dtype))


def _converted(value: Expr, wanted: DType) -> Expr:
    if value.dtype == wanted:
        return value
    match value:
        case Literal(text=text, value=number) if text.isdecimal() and wanted.bits >= 32:
            return Literal(f"{text}{'u' if wanted.bits == 32 else 'ul'}", number, wanted)
        case Cast(operand=operand, dtype=between) if operand.dtype == wanted and between.bits >= wanted.bits and (
                between.is_integer):
            return operand
        case _:
            return Cast(value, wanted)


def without_overflow(expr: Expr, *, but: Collection[Expr] = ()) -> Expr:
    """The expression where the source would not compute it: what overflows has a value nobody looks at.

    Parameters
    ----------
    but : parts that are at hand already.
    """
    if expr in but:
        return expr
    old = children(expr)
    new = tuple(without_overflow(child, but=but) for child in old)
    changed = any(a is not b for a, b in zip(old, new, strict=True))
    made = with_children(expr, new) if changed else expr
    match made:
        case Binary(op=op, left=left, right=right, dtype=dtype) if op in OVERFLOWING and dtype.kind is Kind.SIGNED:
            sides = _as_unsigned(left, dtype), _as_unsigned(right, dtype)
            return Cast(Binary(op, *sides, unsigned(dtype)), dtype)
        case Unary(op="-", operand=operand, dtype=dtype) if dtype.kind is Kind.SIGNED and not isinstance(
                operand, Literal):
            return Cast(Unary("-", _as_unsigned(operand, dtype), unsigned(dtype)), dtype)
        case _:
            return made
