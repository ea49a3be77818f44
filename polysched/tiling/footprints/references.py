"""References: the accesses of a nest as integer matrices over its loops, grouped by what they share.

For a nest with loops l1, ..., ln, a reference to an array of rank r is an r x n matrix C: when loop k
advances by one, subscript d moves by C[d][k].  Accesses of one array with equal matrices and constant
distances, such as the neighbours of a stencil, are one reference with a span per dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from math import prod

import islpy as isl

from polysched.records import dataclass
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import Access, Array, Scop, Statement, Storage
from polysched.tiling.footprints.strides import Stride, steps
from polysched.tiling.limits import LIMITS

UNBOUNDED = 1 << 20
MOST_PARTS = LIMITS.straight_parts
RIM_SHARE = LIMITS.rim_share
_Box = tuple[tuple[int, int] | None, ...]   # per dimension the least and greatest value, None where there is none


@dataclass(frozen=True)
class _Move:
    """How far subscripts move in one step, and which of them go round."""

    by: tuple[int, ...]
    cyclic: frozenset[int] = frozenset()


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
    cyclic : the dimensions whose subscripts go round.
    row_elements : elements from one row of the array to the next; 0 when unknown.
    row_dim : the dimension along which elements lie side by side, counted from the end: the last one that holds more
        than one element (-3 for `W[o][c][1][1]`).
    elsewhere : statements of other nests access the array, too.
    temporary : nothing outside of the region sees the array, and those statements have fewer loops, as start values
        and last steps of sums have.
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
    cyclic: frozenset[int] = frozenset()
    row_elements: int = 0
    row_dim: int = -1
    elsewhere: bool = False
    temporary: bool = False

    @property
    def bytes_reached(self) -> int:
        """The bytes of all elements whose subscripts occur."""
        return prod(self.reach) * self.element_bytes

    def moves_with(self, loop: int) -> bool:
        """Another iteration of the loop touches other elements."""
        return self.whole or loop in self._moving

    @cached_property
    def _moving(self) -> frozenset[int]:
        """The loops that move a subscript."""
        return frozenset(loop for row in self.movers for loop, _ in row)

    def stride(self, loop: int) -> Stride:
        """How the reference moves along one loop."""
        if not self.moves_with(loop):
            return Stride.INVARIANT
        last = len(self.coefficients) - 1
        if (self.whole or any(row[loop] for row in self.coefficients[:-1]) or abs(self.coefficients[-1][loop]) != 1
                or last in self.cyclic):
            return Stride.OTHER
        return Stride.UNIT

    @cached_property
    def movers(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Per dimension of the array, the loops that move its subscript, each with how far."""
        return tuple(tuple((loop, abs(by)) for loop, by in enumerate(row) if by) for row in self.coefficients)

    @cached_property
    def form(self) -> Reference:
        """The same without what does not count for footprints: the array, who holds it, and directions."""
        rows = tuple(tuple(map(abs, row)) for row in self.coefficients)
        return replace(self, array="", statements=(), reads=True, writes=False, elsewhere=False, temporary=False,
                       coefficients=rows)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.array, self.coefficients, self.spans, self.reach, self.element_bytes, self.places))

    @cached_property
    def coupled(self) -> bool:
        """One loop moves several subscripts, so the box of subscripts may hold elements that nothing touches."""
        loops = [loop for row in self.movers for loop, _ in row]
        return len(loops) > len(set(loops))

    @property
    def most_places(self) -> int:
        """Elements that one iteration touches at most: of a box where a subscript goes round."""
        box = prod(span + 1 for span in self.spans)
        return box if self.cyclic else min(box, self.places)

    @property
    def linear(self) -> tuple[tuple[int, ...], ...]:
        """The rows of the matrix, zero where a subscript goes round: others do not tell far iterations apart."""
        return tuple((0,) * len(row) if dim in self.cyclic else row for dim, row in enumerate(self.coefficients))


def nest_references(scop: Scop, statements: tuple[str, ...], path: tuple[isl.UnionPwAff, ...],
                    parameters: Mapping[str, int], first: int = 0) -> tuple[Reference, ...]:
    """The references of the statements over the loops `path[first:]`, grouped; scalars are left out."""
    groups: list[_Group] = []
    for statement in (part for name in statements for part in in_straight_parts(scop.statement(name), path)):
        for access in (part for whole in statement.accesses for part in without_rims(whole, parameters)):
            if not scop.array(access.array).is_scalar:
                _add(groups, timed_relation(statement, access, path), _box(access, parameters),
                     reference_of(scop.array(access.array), statement, access, path, parameters, first))
    return tuple(_in_program(group.closed(), scop, statements) for group in groups)


def in_straight_parts(statement: Statement, path: tuple[isl.UnionPwAff, ...]) -> tuple[Statement, ...]:
    """The statement on each part of its domain on which every loop of the path counts in one way.

    The halves of a ring that is folded flat run in opposite directions: their accesses move alike, each by itself.
    The statement as it is where there are more than MOST_PARTS of them.
    """
    rows = (row.intersect_domain(isl.UnionSet.from_set(statement.domain)).get_pw_aff_list() for row in path)
    parts = _refined([statement.domain], (row.get_at(k) for row in rows for k in range(row.n_pw_aff())))
    if not 1 < len(parts) <= MOST_PARTS:
        return (statement,)
    return tuple(replace(statement, domain=part, accesses=tuple(
        replace(a, relation=a.relation.intersect_domain(part)) for a in statement.accesses)) for part in parts)


def _refined(parts: list[isl.Set], functions: Iterable[isl.PwAff]) -> list[isl.Set]:
    """The parts cut up until each function is affine on each of them; more than MOST_PARTS are cut no further."""
    for function in functions:
        pieces = [piece for piece, _ in function.get_pieces()]
        if len(pieces) > 1 and len(parts) <= MOST_PARTS:
            parts = [part for known in parts for piece in pieces if not (part := known.intersect(piece)).is_empty()]
    return parts


def without_rims(access: Access, parameters: Mapping[str, int]) -> tuple[Access, ...]:
    """The access on each part of its domain where it is one affine function, without parts that hardly count.

    `A[(i + 1) % n]` is `A[i + 1]` but for one iteration.  The access as it is where it has one part, or several
    elements at a time.
    """
    relation = access.relation
    if not access.exact or relation.n_basic_map() < 2 or not relation.is_single_valued():
        return (access,)
    functions = isl.PwMultiAff.from_map(relation)
    pieces = _refined([relation.domain()], (functions.get_at(k) for k in range(functions.dim(isl.dim_type.out))))
    if not 1 < len(pieces) <= MOST_PARTS:
        return (access,)
    counts = [_box_size(fix_parameters(piece, parameters)) for piece in pieces]
    return tuple(replace(access, relation=relation.intersect_domain(piece)) for piece, count in zip(
        pieces, counts, strict=True) if count * RIM_SHARE >= max(counts))


def _box_size(points: isl.Set) -> int:
    return 0 if points.is_empty() else prod(extent_of(points, dim) for dim in range(points.dim(isl.dim_type.set)))


def _in_program(reference: Reference, scop: Scop, statements: tuple[str, ...]) -> Reference:
    """The reference of a nest of these statements with what the others do with its array."""
    others = [s for s in scop.statements if s.name not in statements
              and any(access.array == reference.array for access in s.accesses)]
    depth = max(scop.statement(name).depth for name in statements)
    return replace(reference, elsewhere=bool(others), temporary=(
        scop.array(reference.array).storage is Storage.LOCAL and all(s.depth < depth for s in others)))


def reference_of(array: Array, statement: Statement, access: Access, path: tuple[isl.UnionPwAff, ...],
                 parameters: Mapping[str, int], first: int = 0) -> Reference:
    """One access as a reference of its own."""
    rank = int(access.relation.dim(isl.dim_type.out))
    reach = tuple(_length(interval) for interval in _box(access, parameters))
    reference = Reference(array=access.array, element_bytes=array.dtype.bytes, coefficients=(), spans=(0,) * rank,
                          reach=reach, reads=not access.is_write, writes=access.is_write, statements=(statement.name,),
                          row_elements=_row_elements(array, parameters), row_dim=_row_dim(array))
    timed = timed_relation(statement, access, path)
    columns = [_moves(timed, loop, reach) for loop in range(first, len(path))]
    if not access.exact or any(column is None for column in columns):
        return replace(reference, coefficients=((0,) * len(columns),) * rank, whole=True)
    known = [column for column in columns if column is not None]
    return replace(reference, coefficients=tuple(tuple(column.by[dim] for column in known) for dim in range(rank)),
                   cyclic=frozenset[int]().union(*(column.cyclic for column in known)))


def _row_dim(array: Array) -> int:
    dims = range(-1, -len(array.extents) - 1, -1)
    return next((dim for dim in dims if not _holds_one(array.extents[dim])), -1)


def _holds_one(extent: isl.PwAff | None) -> bool:
    return extent is not None and bool(isl.Set.from_pw_aff(extent).plain_get_val_if_fixed(
        isl.dim_type.set, 0).eq(isl.Val.one(isl.DEFAULT_CONTEXT)))


def _row_elements(array: Array, parameters: Mapping[str, int]) -> int:
    extent = array.extents[_row_dim(array)] if array.extents else None
    if extent is None:
        return 0
    length = _interval(fix_parameters(isl.Set.from_pw_aff(extent), parameters), 0)
    return 0 if length is None else length[1]


def _box(access: Access, parameters: Mapping[str, int]) -> _Box:
    elements = fix_parameters(access.relation, parameters).range()
    return tuple(_interval(elements, dim) for dim in range(elements.dim(isl.dim_type.set)))


def _length(interval: tuple[int, int] | None) -> int:
    return UNBOUNDED if interval is None else interval[1] - interval[0] + 1


def _around(left: tuple[int, int] | None, right: tuple[int, int] | None) -> tuple[int, int] | None:
    return None if left is None or right is None else (min(left[0], right[0]), max(left[1], right[1]))


def _interval(points: isl.Set, dim: int) -> tuple[int, int] | None:
    """The least and greatest value along one dimension, (0, 0) for an empty set; None for an unbounded one."""
    if points.is_empty():
        return (0, 0)
    low, high = points.dim_min_val(dim), points.dim_max_val(dim)
    return (int(low.to_python()), int(high.to_python())) if low.is_int() and high.is_int() else None


def extent_of(points: isl.Set, dim: int) -> int:
    """Length of a set along one dimension; 1 for an empty set, a large number for an unbounded one."""
    return _length(_interval(points, dim))


def timed_relation(statement: Statement, access: Access, path: tuple[isl.UnionPwAff, ...]) -> isl.Map:
    """`{ [c1, ..., cn] -> A[...] }`: what is touched when the loops of the path have these values."""
    domain = isl.UnionSet.from_set(statement.domain)
    schedule = isl.Map.from_domain(statement.domain)
    for member in path:
        row = isl.Map.from_union_map(isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain))
        schedule = schedule.flat_range_product(row)
    return schedule.reverse().apply_range(access.relation)


def _moves(timed: isl.Map, loop: int, reach: tuple[int, ...]) -> _Move | None:
    """How far each subscript moves when the loop advances by one; None when that is no constant.

    A loop that has one iteration moves nothing.  A step that is no integer (loops at an angle to those of the
    program) counts as the next larger one, so that footprints are never too small.
    """
    rounded: _Move | None = None
    space = timed.get_space().domain()
    for step in steps(timed.domain(), loop):
        shift = isl.MultiAff.identity(space.map_from_set())
        moved = shift.get_at(loop).add_constant_val(isl_value(step))
        later = isl.Map.from_multi_aff(shift.set_at(loop, moved)).apply_range(timed)
        move = _move(timed.reverse().apply_range(later).deltas(), reach)
        if move is None:
            return None
        if move.by and all(d % step == 0 for d in move.by):
            return replace(move, by=tuple(d // step for d in move.by))
        if move.by:
            rounded = replace(move, by=tuple(-(-d // step) if d > 0 else d // step for d in move.by))
    return rounded or _Move((0,) * int(timed.dim(isl.dim_type.out)))


def _move(apart: isl.Set, reach: tuple[int, ...]) -> _Move | None:
    """One step of a loop, from how far apart the elements before and after it are; no subscripts if it has none."""
    if apart.is_empty():
        return _Move(())
    by = [value if value is not None else _round(apart, dim, most)
          for dim, (value, most) in enumerate(zip(_fixed(apart), reach, strict=True))]
    known = tuple(value for value in by if value is not None)
    cyclic = frozenset(dim for dim, value in enumerate(_fixed(apart)) if value is None)
    return _Move(known, cyclic) if len(known) == len(by) else None


def _round(apart: isl.Set, dim: int, reach: int) -> int | None:
    """The step of a subscript that goes round: c where it moves by c or c - P, and P is no less than its range."""
    interval = _interval(apart.project_out_all_params(), dim)
    if interval is None or interval[1] - interval[0] < reach:
        return None
    ends = [apart.fix_val(isl.dim_type.set, dim, isl_value(end)) for end in interval]
    if not apart.is_subset(ends[0].union(ends[1])):
        return None
    return min(interval, key=lambda move: (abs(move), -move))


def _distance(left: isl.Map, right: isl.Map, cyclic: frozenset[int]) -> _Box | None:
    """How far two relations are apart per output dimension; () when they never meet, None if it varies.

    Only subscripts that go round may be apart by this much at one time and by that much at another.
    """
    apart = left.reverse().apply_range(right).deltas()
    if apart.is_empty():
        return ()
    whole = apart.project_out_all_params()
    found = tuple(_interval(whole, dim) if dim in cyclic else None if value is None else (value, value)
                  for dim, value in enumerate(_fixed(apart)))
    return None if None in found else found


def _fixed(apart: isl.Set) -> list[int | None]:
    """The value of each dimension where it is the same for all points."""
    dims = range(apart.dim(isl.dim_type.set))
    values = [apart.plain_get_val_if_fixed(isl.dim_type.set, dim) for dim in dims]
    if not all(value.is_int() for value in values):
        hull = isl.Set.from_basic_set(apart.affine_hull())
        values = [hull.plain_get_val_if_fixed(isl.dim_type.set, dim) for dim in dims]
    return [int(value.to_python()) if value.is_int() else None for value in values]


@dataclass(frozen=True, eq=False)
class _Group:
    """References that move alike: where the first one is, how far the others lie around it, what they touch."""

    leader: isl.Map
    reference: Reference
    around: _Box
    touched: _Box
    places: frozenset[_Box]

    def closed(self) -> Reference:
        return replace(self.reference, spans=tuple(_length(interval) - 1 for interval in self.around),
                       reach=tuple(map(_length, self.touched)), places=max(1, len(self.places)))


def _add(groups: list[_Group], timed: isl.Map, touched: _Box, new: Reference) -> None:
    for index, group in enumerate(groups):
        old = group.reference
        if (old.array != new.array or old.coefficients != new.coefficients or old.cyclic != new.cyclic
                or old.whole or new.whole):
            continue
        apart = _distance(group.leader, timed, old.cyclic)
        if not apart:
            continue
        merged = replace(old, reads=old.reads or new.reads, writes=old.writes or new.writes,
                         statements=tuple(dict.fromkeys((*old.statements, *new.statements))))
        groups[index] = _Group(group.leader, merged, tuple(map(_around, group.around, apart)),
                               tuple(map(_around, group.touched, touched)), group.places | {apart})
        return
    still = ((0, 0),) * len(touched)
    groups.append(_Group(timed, new, still, touched, frozenset({still})))
