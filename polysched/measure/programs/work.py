"""How much a region computes and moves at one problem size, counted from isl's domains and accesses."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.errors import UsageError
from polysched.measure.measurement import Work
from polysched.measure.programs.bounds import extents_at
from polysched.measure.programs.point_count import count_points
from polysched.scop.body import (
    COMPARISON,
    Assign,
    Binary,
    BodyStatement,
    Call,
    Expr,
    If,
    Perform,
    Select,
    Unary,
    While,
    children,
)
from polysched.scop.budget import with_budget
from polysched.scop.dtypes import DType
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import AccessKind, Scop

logger = logging.getLogger(__name__)

FLOP_OPERATORS = frozenset({"+", "-", "*", "/"}) | COMPARISON
MOST_OPERATIONS = 3_000_000


def count_work(scops: Sequence[Scop], sizes: Mapping[str, int]) -> Work | None:
    """Floating-point operations and bytes moved by these regions; None when counting takes isl too long, and where
    subscripts on data reach into an array of unknown length.

    Operations under data-dependent conditions count as if the dearer side were always taken.  Bytes moved are the
    bytes of all distinct elements read, plus those written: what an unlimited cache would move.
    """
    def counted() -> Work:
        flops = sum(statement_flops(s.body) * count_points(fix_parameters(s.domain, sizes))
                    for scop in scops for s in scop.statements if statement_flops(s.body))
        moved = sum(bytes_touched(scop, sizes, AccessKind.READ) +
                    bytes_touched(scop, sizes, AccessKind.MUST_WRITE, AccessKind.MAY_WRITE) for scop in scops)
        return Work(flop_count=flops, bytes_moved=moved)

    try:
        return with_budget(MOST_OPERATIONS, counted)
    except (isl.Error, UsageError) as error:   # the latter where an array may be of any length
        logger.info("there will be no GFLOP/s, since the operations were not counted: %s", error)
        return None


def bytes_touched(scop: Scop, sizes: Mapping[str, int], *kinds: AccessKind) -> int:
    """The bytes of all distinct elements that accesses of these kinds reach."""
    total = 0
    for array in scop.arrays:
        reached: isl.Set | None = None
        for statement in scop.statements:
            for access in statement.accesses:
                if access.array == array.name and access.kind in kinds:
                    elements = fix_parameters(access.relation.intersect_domain(statement.domain), sizes).range()
                    reached = elements if reached is None else reached.union(elements)
        if reached is not None:
            if not reached.is_bounded():
                reached = _inside(reached, extents_at(scop, array, sizes))
            total += count_points(reached) * array.dtype.bytes
    return total


def _inside(elements: isl.Set, extents: tuple[int, ...]) -> isl.Set:
    """What a subscript on data may reach of an array with these extents."""
    for position, extent in enumerate(extents):
        elements = elements.lower_bound_val(isl.dim_type.set, position, isl.Val(0))
        elements = elements.upper_bound_val(isl.dim_type.set, position, isl_value(extent - 1))
    return elements


def statement_flops(body: Sequence[BodyStatement]) -> int:
    """The floating-point operations of one instance."""
    total = 0
    for item in body:
        match item:
            case Assign():
                total += _flops(item.value)
                total += 0 if item.op is None else _operation_flops(item.op, item.dtype, item.value.dtype)
            case If():
                total += _flops(item.condition) + max(statement_flops(item.then), statement_flops(item.otherwise))
            case While():
                total += _flops(item.condition) + statement_flops(item.body)
            case Perform():
                total += _flops(item.call)
    return total


def _flops(expr: Expr) -> int:
    """The floating-point operations of one evaluation; the dearer side of a conditional expression counts."""
    below = [_flops(child) for child in children(expr)]
    match expr:
        case Select():
            return below[0] + max(below[1:])
        case Binary() if expr.op in FLOP_OPERATORS:
            return _operation_flops(expr.op, expr.left.dtype, expr.right.dtype) + sum(below)
        case Unary() if expr.op == "-" and not expr.dtype.is_integer:
            return 1 + expr.dtype.is_complex + sum(below)
        case Call() if not expr.dtype.is_integer:
            return 1 + sum(below)
        case _:
            return sum(below)


def _operation_flops(op: str, left: DType, right: DType) -> int:
    """The operations on parts of the textbook's formulas: a complex divisor has 6 products, 3 sums and 2 quotients."""
    if not (left.is_complex or right.is_complex):
        return int(left.is_float or right.is_float)
    if op == "/" and right.is_complex:
        return 11
    if left.is_complex and right.is_complex:
        return 6 if op == "*" else 2
    return 1 if op in ("+", "-") else 2
