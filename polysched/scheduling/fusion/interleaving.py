"""Statements that share no element but every cache line: those of an unrolled loop, fields of an array of records.

    for (i = 0; i < n; i += 2) { a[i] = b[i]; a[i + 1] = b[i + 1]; }

Apart, each of them would load every line of both arrays; and a compiler joins neighbours to vectors only inside one
loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import islpy as isl

from polysched.scheduling.solving.problem import at_large_size
from polysched.scop.scop import Scop
from polysched.target.target import LINE_BYTES

Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class _Reached:
    """The elements that an access of an array reaches, with their smallest and largest subscripts."""

    array: str
    elements: isl.Set
    box: Box


class Interleaving:
    """What the statements of a program reach, computed once for each."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self._reached = cache(self._computed)

    def between(self, first: Sequence[str], second: Sequence[str]) -> bool:
        """Whether two groups of statements reach different elements of the same lines of an array, all over it."""
        return any(self._between(a, b) for one, other in product(first, second)
                   for a, b in product(self._reached(one), self._reached(other)))

    def _computed(self, name: str) -> tuple[_Reached, ...]:
        statement = self.scop.statement(name)
        found = []
        for access in statement.accesses:
            elements = at_large_size(access.relation.intersect_domain(statement.domain).range())
            if access.exact and not self.scop.array(access.array).is_scalar and elements.is_bounded() \
                    and not elements.is_empty():
                box = tuple((int(elements.dim_min_val(k).to_python()), int(elements.dim_max_val(k).to_python()))
                            for k in range(elements.dim(isl.dim_type.set)))
                found.append(_Reached(access.array, elements, box))
        return tuple(found)

    def _between(self, one: _Reached, other: _Reached) -> bool:
        """The same box but for part of a line, and no common element."""
        if one.array != other.array:
            return False
        line = LINE_BYTES // self.scop.array(one.array).dtype.bytes
        *outer, last = (max(abs(low - other_low), abs(high - other_high))
                        for (low, high), (other_low, other_high) in zip(one.box, other.box, strict=True))
        low, high = one.box[-1]
        fits = not any(outer) and last < line and high - low >= 2 * line
        return fits and bool(one.elements.is_disjoint(other.elements))
