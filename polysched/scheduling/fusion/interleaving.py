"""Statements that share no element but every cache line: those of an unrolled loop, fields of an array of records.

    for (i = 0; i < n; i += 2) { a[i] = b[i]; a[i + 1] = b[i + 1]; }

    for (i = 0; i < n; i++) { p[i].x = 0; p[i].y = 0; }
    for (i = 0; i < n; i++) { a[i][0] = 0; a[i][1] = 0; }

Apart, each of them would load every line of both arrays; and a compiler joins neighbours to vectors only inside one
loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product, takewhile

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.solving.problem import at_large_size
from polysched.scop.scop import Scop

Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class _Reached:
    """The elements that an access of an array reaches, with their smallest and largest subscripts."""

    array: str
    elements: isl.Set
    box: Box
    written: bool = False


class Interleaving:
    """What the statements of a program reach, computed once for each.

    Parameters
    ----------
    line_bytes : of a cache line.
    """

    def __init__(self, scop: Scop, *, line_bytes: int) -> None:
        self.scop, self.line_bytes = scop, line_bytes
        self._reached = cache(self._computed)

    def between(self, first: Sequence[str], second: Sequence[str]) -> bool:
        """Whether two groups of statements reach different elements of the same lines of an array, all over it."""
        return any(self._between(a, b) for one, other in product(first, second)
                   for a, b in product(self._reached(one), self._reached(other)))

    def in_records(self, first: Sequence[str], second: Sequence[str], *, written: bool = False) -> bool:
        """Whether two groups of statements reach different members of the same structs, or of the same short rows.

        Parameters
        ----------
        written : both write theirs.
        """
        return any(self._in_one_row(a, b) or self._in_one_struct(a, b) for one, other in product(first, second)
                   for a, b in product(self._reached(one), self._reached(other))
                   if not written or (a.written and b.written))

    def _computed(self, name: str) -> tuple[_Reached, ...]:
        statement = self.scop.statement(name)
        found = []
        for access in statement.accesses:
            elements = at_large_size(access.relation.intersect_domain(statement.domain).range())
            if access.exact and not self.scop.array(access.array).is_scalar and elements.is_bounded() \
                    and not elements.is_empty():
                box = tuple((int(elements.dim_min_val(k).to_python()), int(elements.dim_max_val(k).to_python()))
                            for k in range(elements.dim(isl.dim_type.set)))
                found.append(_Reached(access.array, elements, box, access.is_write))
        return tuple(found)

    def _between(self, one: _Reached, other: _Reached) -> bool:
        """The same box but for part of a line, and no common element."""
        if one.array != other.array or not self._near(one, other):
            return False
        return _is_wide(one.box[-1], self._line(one)) and bool(one.elements.is_disjoint(other.elements))

    def _in_one_row(self, one: _Reached, other: _Reached) -> bool:
        """Elements of rows of an array, as `a[{}][0]` and `a[{}][1]`."""
        return one.array == other.array and self._near(one, other) and _is_number(one.box[-1]) \
            and _is_number(other.box[-1]) and one.box[-1] != other.box[-1] \
            and len(one.box) > 1 and _is_wide(one.box[-2], self._line(one))

    def _in_one_struct(self, one: _Reached, other: _Reached) -> bool:
        """Members of the same elements of an array of structs, as `p[{}].x` and `p[{}].y`."""
        first, second = (self.scop.array(each.array) for each in (one, other))
        if one.array == other.array or not all(
                array.c_element.count("{}") == len(array.extents) for array in (first, second)):
            return False
        pieces = zip(first.c_element.split("{}"), second.c_element.split("{}"), strict=False)
        fields = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pieces))
        inner = (*one.box[fields:], *other.box[fields:])
        return 0 < fields <= len(one.box) and one.box[:fields] == other.box[:fields] \
            and all(map(_is_number, inner)) and _is_wide(one.box[fields - 1], self._line(one))

    def _near(self, one: _Reached, other: _Reached) -> bool:
        *outer, last = (max(abs(low - other_low), abs(high - other_high))
                        for (low, high), (other_low, other_high) in zip(one.box, other.box, strict=True))
        return not any(outer) and last < self._line(one)

    def _line(self, one: _Reached) -> int:
        return self.line_bytes // self.scop.array(one.array).dtype.bytes


def _is_number(subscript: tuple[int, int]) -> bool:
    return subscript[0] == subscript[1]


def _is_wide(subscript: tuple[int, int], line: int) -> bool:
    """Whether the values of a subscript reach over more than a line of so many elements."""
    return subscript[1] - subscript[0] >= 2 * line
