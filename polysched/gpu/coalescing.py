"""Which coordinate becomes the fastest: the one along which neighbours touch neighbouring elements."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np

from polysched.scop.points import isl_value
from polysched.scop.scop import Access, Scop, Statement


def fastest_first(scop: Scop, coordinates: Sequence[isl.UnionPwAff], domain: isl.UnionSet
                  ) -> tuple[isl.UnionPwAff, ...]:
    """The coordinates, best first; of equals the one that the schedule has further in.

    Neighbours along a coordinate that read the next element of the last dimension share lines of memory; those that
    read the same element share it; others take a line each.
    """
    scores = [sum(_score(statement, coordinates, k) for statement in scop.statements
                  if not domain.intersect(isl.UnionSet.from_set(statement.domain)).is_empty())
              for k in range(len(coordinates))]
    order = sorted(range(len(coordinates)), key=lambda k: (-scores[k], -k))
    return tuple(coordinates[k] for k in order)


def _score(statement: Statement, coordinates: Sequence[isl.UnionPwAff], which: int) -> int:
    """The accesses that move along memory with a coordinate, less those that jump."""
    step = step_of(statement, coordinates, which)
    if step is None:
        return 0
    return sum(_worth(access, step) for access in statement.accesses)


def step_of(statement: Statement, coordinates: Sequence[isl.UnionPwAff], which: int) -> tuple[int, ...] | None:
    """The shortest way between instances at neighbouring values of one coordinate and equal ones of the others."""
    rows = []
    for coordinate in coordinates:
        linear = _linear(coordinate, statement)
        if linear is None:
            return None
        rows.append(linear)
    wanted = np.zeros(len(rows))
    wanted[which] = 1
    solution = np.linalg.lstsq(np.array(rows, dtype=float), wanted, rcond=None)[0]
    step = np.rint(solution)
    return tuple(int(s) for s in step) if np.array_equal(np.array(rows) @ step, wanted) else None


def _linear(coordinate: isl.UnionPwAff, statement: Statement) -> list[int] | None:
    """The factors of the iterators, where one expression without divisions gives the coordinate."""
    pieces = coordinate.get_pw_aff_list()
    own = [pieces.get_at(k) for k in range(pieces.n_pw_aff())
           if pieces.get_at(k).domain().get_tuple_name() == statement.name]
    if len(own) != 1 or len(own[0].get_pieces()) != 1:
        return None
    function = own[0].get_pieces()[0][1]
    if function.dim(isl.dim_type.div):
        return None
    return [function.get_coefficient_val(isl.dim_type.in_, k).to_python() for k in range(statement.depth)]


def _worth(access: Access, step: tuple[int, ...]) -> int:
    if not access.exact or not access.relation.dim(isl.dim_type.out):
        return 0
    stride = stride_along(access, step)
    return 2 if stride == 1 else 1 if stride == 0 else -1


def stride_along(access: Access, step: tuple[int, ...]) -> int | None:
    """Elements between the places of two neighbours that differ in the last subscript alone; None for others."""
    if not access.exact or not access.relation.dim(isl.dim_type.out):
        return 0 if access.exact else None
    fixed = _fixed_distances(access, step)
    return None if not fixed or any(fixed[:-1]) or None in fixed else fixed[-1]


def distances_along(access: Access, step: tuple[int, ...]) -> tuple[int, ...] | None:
    """How far apart two neighbours touch elements, by subscript; None where that differs between neighbours."""
    if not access.exact:
        return None
    fixed = _fixed_distances(access, step)
    known = tuple(own for own in fixed if own is not None)
    return known if len(known) == access.relation.dim(isl.dim_type.out) else None


def _fixed_distances(access: Access, step: tuple[int, ...]) -> tuple[int | None, ...]:
    """The distance of neighbours in each subscript, None where it is not the same for all; empty without neighbours."""
    space = access.relation.get_space().domain()
    moved = isl.MultiAff.identity_on_domain_space(space)
    for k, by in enumerate(step):
        moved = moved.set_aff(k, moved.get_aff(k).add_constant_val(isl_value(by)))
    pairs = access.relation.reverse().apply_range(isl.Map.from_multi_aff(moved)).apply_range(access.relation)
    distance = pairs.deltas()
    if distance.is_empty():
        return ()
    return tuple(_only_value(distance, k) for k in range(distance.dim(isl.dim_type.set)))


def _only_value(distances: isl.Set, which: int) -> int | None:
    """The one value of a dimension; None where there are more.

    Subscripts like `t % 2` have distances that isl's plain tests do not see to be fixed.
    """
    plain = distances.plain_get_val_if_fixed(isl.dim_type.set, which)
    if plain.is_int():
        return int(plain.to_python())
    least, most = distances.dim_min_val(which), distances.dim_max_val(which)
    return int(least.to_python()) if least.is_int() and least.eq(most) else None
