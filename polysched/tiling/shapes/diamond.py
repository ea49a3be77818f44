"""Diamond tiles: stencils over time whose tiles start all at once.

Source: V. Bandishti, I. Pananilath, U. Bondhugula, "Tiling Stencil Computations to Maximize Parallelism", SC 2012,
sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.records import dataclass
from polysched.scop.points import isl_value
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import maps_of, sets_of
from polysched.tiling.tree.loops import Loop
from polysched.tiling.tree.position import Position, is_independent, runs_backwards

MOST_SKEW = LIMITS.most_skew


@dataclass(frozen=True, eq=False, kw_only=True)
class Faces:
    """What tiles over time are cut by from both sides.

    Parameters
    ----------
    space : the member of the band that they cut.
    right, left : grow along every dependence, with the place and against it.
    multiple : of the time loop in the sum of both, beside a constant per statement.
    inner : those of another member, which cuts the gaps between the pieces of split tiles in turn; None where no other
        one does.
    """

    space: int
    right: isl.UnionPwAff
    left: isl.UnionPwAff
    multiple: int
    inner: Faces | None = None


def diamond_faces(position: Position, loops: tuple[Loop, ...]) -> tuple[Loop, Loop] | None:
    """The two faces of diamond tiles as loops: a skewed space loop, and its mirror image against time."""
    found = faces_of(position, tuple(loop.function for loop in loops))
    return None if found is None else (loops[found.space], Loop(function=found.left, mark=replace(loops[0].mark)))


def faces_of(position: Position, members: tuple[isl.UnionPwAff, ...], *, last: int | None = None) -> Faces | None:
    """A skewed space loop, and its mirror image against time.

    For loops [t, s t + i, ...] with dependences that reach as far to the right as to the left, the faces are
    s t + i and s t - i, found as the least multiple c of the time loop for which c t - (s t + i), shifted by a
    constant per statement, runs backwards along no dependence.  Tiles between the two faces touch time only at a
    point, so a whole row of them can start at once; with rectangular tiles of [t, s t + i] a wavefront grows from
    one corner.

    None when no multiple up to MOST_SKEW will do.

    Parameters
    ----------
    last : a member that is cut only where no other one can be; the others are cut in turn.
    """
    if is_independent(position, members[0]):
        return None
    order = sorted(range(1, len(members)), key=lambda member: member == last)
    found = (faces for space in order if (faces := _faces_at(position, members, space)) is not None)
    outer = next(found, None)
    if outer is None or last is None:
        return outer
    inner = next(found, None)
    return outer if inner is None or inner.space == last else replace(outer, inner=inner)


def _faces_at(position: Position, members: tuple[isl.UnionPwAff, ...], space: int) -> Faces | None:
    time, function = members[0], members[space]
    if runs_backwards(position, function):
        return None
    for multiple in range(1, MOST_SKEW + 1):
        factor = isl_value(multiple)
        mirror = shifted(position, time.scale_val(factor).sub(function))
        if mirror is not None:
            return Faces(space=space, right=function, left=mirror, multiple=multiple)
    return None


def shifted(position: Position, function: isl.UnionPwAff) -> isl.UnionPwAff | None:
    """The function plus a constant per statement so that it runs backwards along no dependence; None if there is none.

    The constants are longest paths over the statements, with the least distance of a dependence on each edge.
    """
    least: dict[tuple[str, str], int] = {}
    for relation in maps_of(position.dependences):
        ends = relation.get_tuple_name(isl.dim_type.in_), relation.get_tuple_name(isl.dim_type.out)
        distance = _least_distance(relation, function)
        if distance is None:
            return None
        least[ends] = min(distance, least.get(ends, distance))
    names = [part.get_tuple_name() for part in sets_of(position.domain)]
    shift = dict.fromkeys(names, 0)
    for _ in names:
        for (source, sink), distance in least.items():
            shift[sink] = max(shift[sink], shift[source] - distance)
    if any(shift[sink] < shift[source] - distance for (source, sink), distance in least.items()):
        return None
    constants = isl.UnionPwAff.empty(function.get_space())
    for part in sets_of(position.domain):
        value = isl_value(shift[part.get_tuple_name()])
        universe = isl.UnionSet.from_set(isl.Set.universe(part.get_space()))
        constants = constants.union_add(isl.UnionPwAff.val_on_domain(universe, value))
    return function.add(constants)


def _least_distance(relation: isl.Map, function: isl.UnionPwAff) -> int | None:
    """How far the function advances along a dependence at least; None when that is unbounded."""
    values = isl.UnionMap.from_union_pw_aff(function)
    pairs = isl.UnionMap.from_map(relation).apply_domain(values).apply_range(values)
    if pairs.is_empty():
        return 0
    distance = isl.Map.from_union_map(pairs).deltas().dim_min_val(0)
    return int(distance.to_python()) if distance.is_int() else None
