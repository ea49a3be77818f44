"""How much a region computes and moves at one problem size, counted by isl from domains and accesses."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import islpy as isl

from polysched.measure.measurement import Work
from polysched.scop.body import (
    COMPARISON,
    Assign,
    Binary,
    BodyStatement,
    Call,
    Expr,
    If,
    Select,
    Unary,
    While,
    children,
)
from polysched.scop.points import fix_parameters
from polysched.scop.scop import AccessKind, Scop

logger = logging.getLogger(__name__)

FLOP_OPERATORS = frozenset({"+", "-", "*", "/"}) | COMPARISON
MOST_OPERATIONS = 30_000_000


def count_work(scops: Sequence[Scop], sizes: Mapping[str, int]) -> Work | None:
    """Floating-point operations and bytes moved by these regions; None when counting takes too long.

    Operations under data-dependent conditions count as if the dearer side were always taken.  Bytes moved are the
    bytes of all distinct elements read, plus those written: what an unlimited cache would move.
    """
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(MOST_OPERATIONS)
    try:
        flops = sum(statement_flops(s.body) * count_points(fix_parameters(s.domain, sizes))
                    for scop in scops for s in scop.statements if statement_flops(s.body))
        moved = sum(bytes_touched(scop, sizes, AccessKind.READ) +
                    bytes_touched(scop, sizes, AccessKind.MUST_WRITE, AccessKind.MAY_WRITE) for scop in scops)
    except isl.Error as error:
        logger.info("the work was not counted: %s", error)
        return None
    finally:
        context.set_max_operations(0)
        context.reset_operations()
    return Work(flop_count=flops, bytes_moved=moved)


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
            total += count_points(reached) * array.dtype.bytes
    return total


def count_points(domain: isl.Set) -> int:
    """The number of points of a bounded set without parameters.

    Dimensions that no constraint ties to others are multiplied, so boxes of any size cost nothing.
    """
    total = 0
    for piece in domain.coalesce().make_disjoint().get_basic_sets():
        total += _count_piece(piece)
    return total


def _count_piece(piece: isl.BasicSet) -> int:
    """Split off the dimensions that are independent of all others, and let isl count the rest."""
    factor = 1
    rest = isl.Set.from_basic_set(piece)
    position = 0
    while position < rest.dim(isl.dim_type.set) and rest.dim(isl.dim_type.set) > 1:
        alone = _only(rest, position)
        others = rest.project_out(isl.dim_type.set, position, 1)
        box = others.insert_dims(isl.dim_type.set, position, 1).intersect(
            alone.insert_dims(isl.dim_type.set, 0, position).add_dims(
                isl.dim_type.set, rest.dim(isl.dim_type.set) - position - 1))
        if box.reset_tuple_id().is_equal(rest.reset_tuple_id()):
            factor *= _enumerated(alone)
            rest = others
        else:
            position += 1
    return factor * _enumerated(rest)


def _enumerated(domain: isl.Set) -> int:
    """The number of points, counted by isl one by one.

    Over its budget isl gives no value, or one of the points so far, and no error; whatever is asked next raises it.
    """
    text = domain.count_val().to_str()
    isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "{ [i] : 0 <= i < 4 }")
    if text is None:
        raise isl.Error("more points than isl may count")
    return int(text)


def _only(domain: isl.Set, position: int) -> isl.Set:
    """The projection onto one dimension."""
    count = domain.dim(isl.dim_type.set)
    return domain.project_out(isl.dim_type.set, position + 1, count - position - 1).project_out(
        isl.dim_type.set, 0, position)


def statement_flops(body: Sequence[BodyStatement]) -> int:
    """The floating-point operations of one instance."""
    total = 0
    for item in body:
        match item:
            case Assign():
                total += _flops(item.value)
                total += int(item.op is not None and item.dtype.is_float)
            case If():
                total += _flops(item.condition) + max(statement_flops(item.then), statement_flops(item.otherwise))
            case While():
                total += _flops(item.condition) + statement_flops(item.body)
    return total


def _flops(expr: Expr) -> int:
    """The floating-point operations of one evaluation; the dearer side of a conditional expression counts."""
    below = [_flops(child) for child in children(expr)]
    match expr:
        case Select():
            return below[0] + max(below[1:])
        case Binary() if expr.op in FLOP_OPERATORS and (expr.left.dtype.is_float or expr.right.dtype.is_float):
            return 1 + sum(below)
        case Unary() if expr.op == "-" and expr.dtype.is_float:
            return 1 + sum(below)
        case Call() if expr.dtype.is_float:
            return 1 + sum(below)
        case _:
            return sum(below)
