"""Short loops around an accumulator of their own, written out: each iteration becomes a statement.

    for i, j: { s = 0; for q in -1, 0, 1: s += A[i][j + q]; B[i][j] = s / 3; }
    ->          s = 0; s += A[i][j - 1]; s += A[i][j]; s += A[i][j + 1]; B[i][j] = s / 3;

Then all statements have the loops of the accumulator and no others, so that a scheduler keeps them together, and the
accumulator becomes a register.  Done where the loops have a constant number of iterations, few in all.
Nothing changes but names: the order as written, taken back through the map from new instances to old ones, is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import islpy as isl

from polysched.dependence.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.body import (
    Address,
    Assign,
    BodyStatement,
    Call,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    Perform,
    While,
    rebuild,
)
from polysched.scop.points import box_size, isl_value, points_of
from polysched.scop.scop import Access, Scop, Statement

_Change: TypeAlias = Callable[[Expr], Expr]

MOST_POINTS = LIMITS.written_out_points
MOST_STATEMENTS = LIMITS.written_out_statements
LARGEST_STEP = LIMITS.written_out_stride


@dataclass(frozen=True, eq=False)
class WrittenOut:
    """A program with loops written out, and the instance of the program before that each of its instances is."""

    scop: Scop
    back: isl.UnionPwMultiAff


def write_out(scop: Scop, loops: dict[str, tuple[int, ...]]) -> WrittenOut | None:
    """The program with these loops of these statements written out; None when none of them is short.

    Parameters
    ----------
    loops : positions of iterators by statement.
    """
    points = {name: found for name, positions in loops.items()
              if (found := _points(scop, scop.statement(name), positions)) is not None}
    if not points or len(scop.statements) + sum(len(p) - 1 for p in points.values()) > MOST_STATEMENTS:
        return None
    statements: list[Statement] = []
    back = isl.UnionPwMultiAff.from_union_map(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{ }"))
    for statement in scop.statements:
        for number, point in enumerate(points.get(statement.name, ((),))):
            name = statement.name if statement.name not in points else f"{statement.name}_{number}"
            to_old = _to_old(statement, loops.get(statement.name, ()) if point else (), point, name)
            back = back.union_add(isl.UnionPwMultiAff.from_pw_multi_aff(to_old.as_pw_multi_aff()))
            statements.append(statement if not point else _at_point(
                statement, loops[statement.name], point, name, to_old, suffix=f"_{number}"))
    schedule = scop.schedule.pullback_union_pw_multi_aff(back)
    return WrittenOut(replace(scop, statements=tuple(statements), schedule=schedule), back)


def is_short(scop: Scop, statement: Statement, positions: Sequence[int]) -> bool:
    """Whether the loops of a statement at these positions can be written out."""
    return _points(scop, statement, positions) is not None


def _points(scop: Scop, statement: Statement, positions: Sequence[int]) -> tuple[tuple[int, ...], ...] | None:
    """The values of the iterators at these positions; None when they are not a few constants."""
    domain = statement.domain.intersect_params(scop.context)
    values = domain.project_out_all_params()
    for position in reversed(range(statement.depth)):
        if position not in positions:
            values = values.project_out(isl.dim_type.set, position, 1)
    if _goes_along_rows(statement, positions):
        return None
    if not 0 < box_size(values) <= MOST_POINTS ** 2:
        return None   # not counted by isl: it goes through the points, and a parameter's type has very many values
    points = sorted(points_of(values))
    if len(points) > MOST_POINTS:
        return None
    # Every point belongs to every iteration of the loops outside: no condition is left on any of the new statements.
    whole = [_fixed(domain, positions, point) for point in points]
    if not all(part.is_equal(whole[0]) for part in whole):
        return None
    return tuple(points)


def _goes_along_rows(statement: Statement, positions: Sequence[int]) -> bool:
    """Whether integers are summed along rows that the loop around goes across by large steps.

    Lanes belong along such rows.  Sums of floats are added in order, so that only the loop around has lanes for them.
    """
    around = [k for k in range(statement.depth) if k not in positions]
    if not around or not all(isinstance(item, Assign) and item.dtype.is_integer for item in statement.body):
        return False
    return any(not access.is_write and abs(_step(access, positions[-1])) == 1
               and abs(_step(access, around[-1])) > LARGEST_STEP for access in statement.accesses)


def _step(access: Access, position: int) -> int:
    """By how many elements of a row an access moves from one iteration of a loop to the next; 0 where that varies."""
    last = access.relation.dim(isl.dim_type.out) - 1
    if last < 0 or not access.exact:
        return 0
    pieces = access.relation.as_pw_multi_aff().get_at(last).get_pieces()
    if len(pieces) != 1:
        return 0
    step = pieces[0][1].get_coefficient_val(isl.dim_type.in_, position)
    return int(step.to_python()) if step.is_int() else 0


def _fixed(domain: isl.Set, positions: Sequence[int], point: Sequence[int]) -> isl.Set:
    for position, value in zip(positions, point, strict=True):
        domain = domain.fix_val(isl.dim_type.set, position, isl_value(value))
    for position in sorted(positions, reverse=True):
        domain = domain.project_out(isl.dim_type.set, position, 1)
    return domain


def _to_old(statement: Statement, positions: Sequence[int], point: Sequence[int], name: str) -> isl.Map:
    """`{ S_k[i, j] -> S[i, j, p, q] }` with p and q at the point."""
    domain = statement.domain
    for position, value in zip(positions, point, strict=True):
        domain = domain.fix_val(isl.dim_type.set, position, isl_value(value))
    relation = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    for position in sorted(positions, reverse=True):
        relation = relation.project_out(isl.dim_type.in_, position, 1)
    left = [iterator for k, iterator in enumerate(statement.iterators) if k not in positions]
    for k, iterator in enumerate(left):
        relation = relation.set_dim_name(isl.dim_type.in_, k, iterator)
    return relation.set_tuple_name(isl.dim_type.in_, name)


def _at_point(statement: Statement, positions: Sequence[int], point: Sequence[int], name: str, to_old: isl.Map, *,
              suffix: str) -> Statement:
    values = {statement.iterators[k]: value for k, value in zip(positions, point, strict=True)}

    def change(e: Expr) -> Expr:
        match e:
            case IteratorRef() if e.name in values:
                return Literal(str(values[e.name]), values[e.name], e.dtype)
            case Load():
                return replace(e, reference=e.reference + suffix)
            case Address():
                return replace(e, references=tuple(name + suffix for name in e.references))
            case _:
                return e

    def moved(access: Access) -> Access:
        relation = to_old.apply_range(access.relation)
        return replace(access, reference=access.reference + suffix, relation=relation,
                       subscripts=tuple(rebuild(s, change) for s in access.subscripts))

    return Statement(name=name, line=statement.line, domain=to_old.domain(),
                     accesses=tuple(map(moved, statement.accesses)),
                     body=tuple(_rewritten(item, change, suffix) for item in statement.body))


def _rewritten(item: BodyStatement, change: _Change, suffix: str) -> BodyStatement:
    def block(items: Sequence[BodyStatement]) -> tuple[BodyStatement, ...]:
        return tuple(_rewritten(inner, change, suffix) for inner in items)

    match item:
        case Assign():
            return replace(item, target=item.target + suffix, value=rebuild(item.value, change),
                           read=None if item.read is None else item.read + suffix)
        case If():
            return replace(item, condition=rebuild(item.condition, change), then=block(item.then),
                           otherwise=block(item.otherwise))
        case While():
            return replace(item, condition=rebuild(item.condition, change), body=block(item.body))
        case Perform():
            call = rebuild(item.call, change)
            assert isinstance(call, Call)
            return replace(item, call=call, target=None if item.target is None else item.target + suffix,
                           read=None if item.read is None else item.read + suffix)
