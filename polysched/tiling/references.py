"""References: the accesses of a nest as integer matrices over its loops, grouped by what they share.

For a nest with loops l1, ..., ln, a reference to an array of rank r is an r x n matrix C: when loop k
advances by one, subscript d moves by C[d][k].  Accesses of one array with equal matrices and constant
distances, such as the neighbours of a stencil, are one reference with a span per dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from polysched.scop.points import fix_parameters
from polysched.scop.scop import Access, Array, Scop, Statement
from polysched.tiling.strides import LARGEST_STEP, Stride

UNBOUNDED = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Accesses of one array that move alike.

    Parameters
    ----------
    array : its name.
    element_bytes : size of an element.
    coefficients : one row per array dimension, one column per loop of the nest.
    spans : per array dimension, how far the constant parts of the accesses are apart.
    reach : per array dimension, how many subscripts occur at all, at the assumed parameter values.
    reads, writes : what the accesses do, counted together.
    statements : names of the statements that hold the accesses.
    whole : nothing is known about how the subscripts move: any element may be touched at any time.
    places : elements at different distances that one iteration touches.
    """

    array: str
    element_bytes: int
    coefficients: tuple[tuple[int, ...], ...]
    spans: tuple[int, ...]
    reach: tuple[int, ...]
    reads: bool
    writes: bool
    statements: tuple[str, ...]
    whole: bool = False
    places: int = 1

    def moves_with(self, loop: int) -> bool:
        """Another iteration of the loop touches other elements."""
        return self.whole or any(row[loop] for row in self.coefficients)

    def stride(self, loop: int) -> Stride:
        """How the reference moves along one loop."""
        if not self.moves_with(loop):
            return Stride.INVARIANT
        if self.whole or any(row[loop] for row in self.coefficients[:-1]) or abs(self.coefficients[-1][loop]) != 1:
            return Stride.OTHER
        return Stride.UNIT


def nest_references(scop: Scop, statements: tuple[str, ...], path: tuple[isl.UnionPwAff, ...],
                    parameters: Mapping[str, int], first: int = 0) -> tuple[Reference, ...]:
    """The references of the statements over the loops `path[first:]`, grouped; scalars are left out."""
    groups: list[_Group] = []
    for name in statements:
        statement = scop.statement(name)
        for access in statement.accesses:
            if not scop.array(access.array).is_scalar:
                _add(groups, timed_relation(statement, access, path),
                     reference_of(scop.array(access.array), statement, access, path, parameters, first))
    return tuple(group.closed() for group in groups)


def reference_of(array: Array, statement: Statement, access: Access, path: tuple[isl.UnionPwAff, ...],
                 parameters: Mapping[str, int], first: int = 0) -> Reference:
    """One access as a reference of its own."""
    rank = int(access.relation.dim(isl.dim_type.out))
    reference = Reference(array=access.array, element_bytes=array.dtype.bytes, coefficients=(), spans=(0,) * rank,
                          reach=_reach(access, parameters), reads=not access.is_write, writes=access.is_write,
                          statements=(statement.name,))
    timed = timed_relation(statement, access, path)
    columns = [_moves(timed, loop) for loop in range(first, len(path))]
    if not access.exact or any(column is None for column in columns):
        return replace(reference, coefficients=((0,) * len(columns),) * rank, whole=True)
    known = [column for column in columns if column is not None]
    return replace(reference, coefficients=tuple(tuple(column[dim] for column in known) for dim in range(rank)))


def _reach(access: Access, parameters: Mapping[str, int]) -> tuple[int, ...]:
    elements = fix_parameters(access.relation, parameters).range()
    return tuple(extent_of(elements, dim) for dim in range(elements.dim(isl.dim_type.set)))


def extent_of(points: isl.Set, dim: int) -> int:
    """Length of a set along one dimension; 1 for an empty set, a large number for an unbounded one."""
    if points.is_empty():
        return 1
    low, high = points.dim_min_val(dim), points.dim_max_val(dim)
    return int(high.to_python()) - int(low.to_python()) + 1 if low.is_int() and high.is_int() else UNBOUNDED


def timed_relation(statement: Statement, access: Access, path: tuple[isl.UnionPwAff, ...]) -> isl.Map:
    """`{ [c1, ..., cn] -> A[...] }`: what is touched when the loops of the path have these values."""
    domain = isl.UnionSet.from_set(statement.domain)
    schedule = isl.Map.from_domain(statement.domain)
    for member in path:
        row = isl.Map.from_union_map(isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain))
        schedule = schedule.flat_range_product(row)
    return schedule.reverse().apply_range(access.relation)


def _moves(timed: isl.Map, loop: int) -> tuple[int, ...] | None:
    """How far each subscript moves when the loop advances by one; None when that is no constant integer.

    A loop that has one iteration moves nothing.
    """
    space = timed.get_space().domain()
    for step in range(1, LARGEST_STEP + 1):
        shift = isl.MultiAff.identity(space.map_from_set())
        moved = shift.get_at(loop).add_constant_val(isl.Val.int_from_si(isl.DEFAULT_CONTEXT, step))
        later = isl.Map.from_multi_aff(shift.set_at(loop, moved)).apply_range(timed)
        distance = _distance(timed, later)
        if distance is None:
            return None
        if distance and all(d % step == 0 for d in distance):
            return tuple(d // step for d in distance)
    return (0,) * int(timed.dim(isl.dim_type.out))


def _distance(left: isl.Map, right: isl.Map) -> tuple[int, ...] | None:
    """The constant distance of two relations per output dimension; () when they never meet, None if it varies."""
    apart = left.reverse().apply_range(right).deltas()
    if apart.is_empty():
        return ()
    values = [apart.plain_get_val_if_fixed(isl.dim_type.set, dim) for dim in range(apart.dim(isl.dim_type.set))]
    if not all(value.is_int() for value in values):
        apart = isl.Set.from_basic_set(apart.affine_hull())
        values = [apart.plain_get_val_if_fixed(isl.dim_type.set, dim) for dim in range(len(values))]
    return tuple(int(v.to_python()) for v in values) if all(v.is_int() for v in values) else None


@dataclass(frozen=True, eq=False)
class _Group:
    """References that move alike: where the first one is, and how far the others lie around it."""

    leader: isl.Map
    reference: Reference
    low: tuple[int, ...]
    high: tuple[int, ...]
    places: frozenset[tuple[int, ...]]

    def closed(self) -> Reference:
        spans = tuple(h - w for h, w in zip(self.high, self.low, strict=True))
        reach = tuple(most + span for most, span in zip(self.reference.reach, spans, strict=True))
        return replace(self.reference, spans=spans, reach=reach, places=max(1, len(self.places)))


def _add(groups: list[_Group], timed: isl.Map, new: Reference) -> None:
    for index, group in enumerate(groups):
        old = group.reference
        if old.array != new.array or old.coefficients != new.coefficients or old.whole or new.whole:
            continue
        apart = _distance(group.leader, timed)
        if not apart:
            continue
        merged = replace(old, reach=tuple(map(max, old.reach, new.reach)),
                         reads=old.reads or new.reads, writes=old.writes or new.writes,
                         statements=tuple(dict.fromkeys((*old.statements, *new.statements))))
        groups[index] = _Group(group.leader, merged, tuple(map(min, group.low, apart)),
                               tuple(map(max, group.high, apart)), group.places | {apart})
        return
    groups.append(_Group(timed, new, new.spans, new.spans, frozenset({new.spans})))
