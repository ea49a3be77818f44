"""How the accesses of a statement move when one loop advances and all other loops stand still."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import partial

import islpy as isl

from polysched.scop.budget import with_budget
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, Scop, Statement
from polysched.tiling.limits import LIMITS


class Stride(Enum):
    """INVARIANT: the same element; UNIT: the neighbour in the last dimension; OTHER: anything else."""

    INVARIANT = "invariant"
    UNIT = "unit"
    OTHER = "other"


LARGEST_STEP = LIMITS.largest_step
MOVEMENT_OPERATIONS = LIMITS.movement_operations


def advance(statement: Statement, path: tuple[isl.UnionPwAff, ...], loop: int) -> isl.Map | None:
    """`{ S[i] -> S[i'] }`: i' is the next iteration of `path[loop]`, every other loop unchanged.

    None when no instance has such a successor: the loop has one iteration for this statement.
    """
    domain = isl.UnionSet.from_set(statement.domain)
    schedule: isl.Map | None = None
    for member in path:
        rows = isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain)
        row = isl.Map.from_union_map(rows)
        schedule = row if schedule is None else schedule.flat_range_product(row)
    if schedule is None:
        return None
    for step in steps(schedule.range(), loop):
        moved = schedule.apply_range(_shift(schedule.get_space().range(), loop, step))
        successor = moved.apply_range(schedule.reverse())
        if not successor.is_empty():
            return successor
    return None


def steps(dates: isl.Set, loop: int) -> Iterator[int]:
    """The distances along a loop at which an iteration may have a next one: small ones, then the least that occurs.

    Parameters
    ----------
    dates : the dates of all iterations.
    """
    yield from range(1, LARGEST_STEP + 1)
    further = with_budget(MOVEMENT_OPERATIONS, partial(_least_step, dates, loop))
    if further is not None and further > LARGEST_STEP:
        yield further


def _least_step(dates: isl.Set, loop: int) -> int | None:
    """The least distance along a loop between two dates that differ in nothing else; None where there are no two."""
    pairs = isl.Map.universe(dates.get_space().map_from_set()).intersect_domain(dates).intersect_range(dates)
    for dim in range(dates.dim(isl.dim_type.set)):
        pairs = pairs.order_lt(isl.dim_type.in_, dim, isl.dim_type.out, dim) if dim == loop else (
            pairs.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim))
    least = pairs.deltas().dim_min_val(loop) if not pairs.is_empty() else None
    return int(least.to_python()) if least is not None and least.is_int() else None


def _shift(space: isl.Space, dim: int, step: int) -> isl.Map:
    shift = isl.MultiAff.identity(space.map_from_set())
    moved = shift.get_at(dim).add_constant_val(isl_value(step))
    return isl.Map.from_multi_aff(shift.set_at(dim, moved))


def elements_moved(access: Access, successor: isl.Map) -> int | None:
    """How many elements of its row the access moves by along `successor`, a relation made by `advance`.

    None where it leaves the row or moves by one number here and by another there, and where that is not known after
    `MOVEMENT_OPERATIONS`.
    """
    return with_budget(MOVEMENT_OPERATIONS, partial(_elements_moved, access, successor)) if access.exact else None


def _elements_moved(access: Access, successor: isl.Map) -> int | None:
    moves = access.relation.reverse().apply_range(successor).apply_range(access.relation).deltas()
    rank = int(moves.dim(isl.dim_type.set))
    still = isl.Val.zero(isl.DEFAULT_CONTEXT)
    if not all(_moves_by(moves, dim, still) for dim in range(rank - 1)):
        return None
    if rank == 0 or _moves_by(moves, rank - 1, still):
        return 0
    step = moves.dim_max_val(rank - 1)
    return abs(int(step.to_python())) if step.is_int() and _moves_by(moves, rank - 1, step) else None


def _moves_by(moves: isl.Set, dim: int, step: isl.Val) -> bool:
    fixed = moves.fix_val(isl.dim_type.set, dim, step)
    return bool(moves.is_subset(fixed))


def movements(scop: Scop, statement: Statement, path: tuple[isl.UnionPwAff, ...]) -> dict[str, int | None]:
    """By how many elements of its row every access moves under the last loop of the path, by reference.

    0 for what stays, as everything does in a statement for which that loop has one iteration; None for anything else.
    """
    arrays = {a.reference: scop.array(a.array) for a in statement.accesses}
    successor = advance(statement, path, len(path) - 1)
    if successor is None:
        return dict.fromkeys(arrays, 0)
    return {a.reference: 0 if arrays[a.reference].is_scalar else elements_moved(a, successor)
            for a in statement.accesses}


def strides(scop: Scop, statement: Statement, path: tuple[isl.UnionPwAff, ...]) -> dict[str, Stride]:
    """The stride of every access of the statement under the last loop of the path, by reference."""
    return {reference: kind_of(moved) for reference, moved in movements(scop, statement, path).items()}


def kind_of(moved: int | None) -> Stride:
    """The stride of an access that moves by so many elements of its row."""
    return {0: Stride.INVARIANT, 1: Stride.UNIT}.get(-1 if moved is None else moved, Stride.OTHER)
