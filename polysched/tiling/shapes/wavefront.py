"""Tile loops that can run in parallel: coincident ones outermost, or a wavefront of tiles."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

import islpy as isl

from polysched.scheduling.marks import Role
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scop.points import isl_value
from polysched.tiling.tree.distribute import sets_of
from polysched.tiling.tree.loops import Loop
from polysched.tiling.tree.position import Position, inside, is_independent


def expose_parallelism(position: Position, tiles: tuple[Loop, ...], *, degrees: int = 1,
                       member: int | None = None) -> tuple[Loop, ...]:
    """Reorder or skew the tile loops of one permutable band so that `degrees` of the outer ones are parallel.

    Rewrite:  [a, b, c]  ->  [c, a, b]            when c carries no dependence
              [a, b, c]  ->  [a + b, b, c]        when none is free of dependences
              [a, b, c]  ->  [a + b + c, b, c]    for two degrees: b and c are parallel
              [a, b, c]  ->  [c, a + b, b]        for two degrees, when c carries no dependence: c and b are parallel

    In a permutable band no dependence has a negative distance in any tile loop, so between tiles of one
    wavefront a + b the distances in a and in b are both zero: b carries nothing there.  A band of d loops of which
    none is free gives 1 to d - 1 degrees; further ones make wavefronts shorter and more of them.  A loop over one tile
    carries nothing and has nothing to run in parallel: it goes inside.

    Parameters
    ----------
    member : of the band, the only one whose tiles shall run in parallel: b in the rewrites above.

    Source: U. Bondhugula, A. Hartono, J. Ramanujam, P. Sadayappan, "A Practical Automatic Polyhedral
    Parallelizer and Locality Optimizer", PLDI 2008, section 5.2.
    """
    single = [tile for tile in tiles if _has_one_iteration(position, tile)]
    if 0 < len(single) < len(tiles):
        several = tuple(t for t in tiles if t not in single)
        return (*expose_parallelism(position, several, degrees=degrees, member=member), *single)
    free = _free(position, tiles, member)[:degrees]
    if member is not None and not free:
        tiles = _with_member_second(tiles, member)
    first = tuple(tiles[i] for i in free)
    rest = tuple(tile for i, tile in enumerate(tiles) if i not in free)
    missing = min(degrees - len(free), len(rest) - 1)
    if missing < 1:
        return (*first, *rest)
    skewed = skew(rest, degrees=missing)
    below = inside(position, skewed[0].function)
    if not position.unordered.is_empty() and not is_independent(below, skewed[1].function):
        return (*first, *rest)   # updates of a relaxed reduction may have any distance
    return (*first, *skewed)


def _free(position: Position, tiles: tuple[Loop, ...], member: int | None) -> list[int]:
    """The tile loops that carry no dependence, of one member where that is named."""
    return [i for i, tile in enumerate(tiles)
            if member in (None, tile.mark.member) and is_independent(position, tile.function)]


def _with_member_second(tiles: tuple[Loop, ...], member: int) -> tuple[Loop, ...]:
    """Rewrite:  [a, b, c]  ->  [a, c, b]      where c is the tile loop of the member, so that `skew` frees it"""
    wanted = [tile for tile in tiles if tile.mark.member == member]
    others = [tile for tile in tiles if tile.mark.member != member]
    return (*others[:1], *wanted, *others[1:])


def _has_one_iteration(position: Position, loop: Loop) -> bool:
    """Whether all instances are in one iteration of the loop."""
    values = isl.UnionMap.from_union_pw_aff(loop.function).intersect_domain(position.domain).range()
    return not values.is_empty() and bool(isl.Set.from_union_set(values).is_singleton())


def skew(tiles: tuple[Loop, ...], *, degrees: int = 1) -> tuple[Loop, ...]:
    """Rewrite:  [a, b, c]  ->  [a + b, b, c], and [a + b + c, b, c] for two degrees."""
    front = tiles[0].function
    for tile in tiles[1:1 + degrees]:
        front = front.add(tile.function)
    return (Loop(function=front, mark=replace(tiles[0].mark, role=Role.WAVEFRONT)), *tiles[1:])


def rows_at_one_time(position: Position, points: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The two point loops of tiles between faces that both move on with time, as time and a row.

    Rewrite:  [t - i, t + i]  ->  [t, t + i]      where neither row has independent iterations, but the new one has

    A row along either face goes through time; at one value of their sum the second one goes through space.  Rows that
    move more than one iterator stay as they are: an anti-diagonal of a sweep in place has no unit stride.

    Source: as for `diamond`, section 5: points inside of a tile keep the order that suits vectors.
    """
    if len(points) != 2 or any(is_independent(inside(position, other.function), loop.function)
                               for other, loop in (points, points[::-1])):
        return points
    time = Loop(function=_without_gaps(points[0].function.add(points[1].function)), mark=points[0].mark)
    row = points[1]
    wanted = is_independent(inside(position, time.function), row.function) and _is_straight(
        position.domain, time.function, row.function)
    return (time, row) if wanted else points


def _without_gaps(function: isl.UnionPwAff) -> isl.UnionPwAff:
    """The function divided by what all its values, but for one remainder, are multiples of: t for 2 t or 2 t + 1."""
    pieces = function.get_pw_aff_list()
    parts = [aff for k in range(pieces.n_pw_aff()) for _, aff in pieces.get_at(k).get_pieces()]
    if any(aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one() for aff in parts):
        return function
    step = gcd(*(int(aff.get_coefficient_val(kind, k).to_python()) for aff in parts
                 for kind in (isl.dim_type.in_, isl.dim_type.param) for k in range(aff.dim(kind))))
    rests = {int(aff.get_constant_val().to_python()) % step for aff in parts} if step > 1 else set()
    if len(rests) != 1:
        return function
    rest = isl.UnionPwAff.val_on_domain(function.domain(), isl_value(rests.pop()))
    return function.sub(rest).scale_down_val(isl_value(step)).floor()


def _is_straight(domain: isl.UnionSet, time: isl.UnionPwAff, row: isl.UnionPwAff) -> bool:
    """Whether a step along the row, at one time, moves one iterator of each statement by one."""
    place = isl.UnionMap.from_multi_union_pw_aff(multi_union_pw_aff((time, row))).intersect_domain(domain)
    pairs = place.apply_range(isl.UnionMap("{ [c, r] -> [c, r + 1] }")).apply_range(place.reverse())
    for part in sets_of(domain):
        universe = isl.UnionSet.from_set(isl.Set.universe(part.get_space()))
        own = pairs.intersect_domain(universe).intersect_range(universe)
        if own.is_empty():
            continue
        steps = isl.Map.from_union_map(own).deltas()
        moved = [steps.plain_get_val_if_fixed(isl.dim_type.set, k) for k in range(steps.dim(isl.dim_type.set))]
        if any(v.is_nan() for v in moved) or sorted(abs(v.to_python()) for v in moved)[-2:] not in ([1], [0, 1]):
            return False
    return True
