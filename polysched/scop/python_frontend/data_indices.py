"""Subscripts that are read from arrays: `h[index[i]] += 1`, `j = index[i]; h[j] += 1`.

What such a value is read from may not change while the kernel runs: the value is computed anew wherever its name
stands, and that it lies inside the subscripted array is checked before the kernel runs (`construction.index_checks`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field

from polysched.records import dataclass
from polysched.scop.construction.region import Region
from polysched.scop.construction.values import Value
from polysched.scop.scop import Storage


@dataclass
class DataIndices:
    """What is known of subscripts that depend on data; grows from pass to pass.

    Parameters
    ----------
    names : variables that stand in such subscripts, and so keep the value that they are given.
    used : arrays that such subscripts are read from.
    written : those of them that the kernel writes.
    """

    names: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)

    def need_values(self, names: Collection[str]) -> bool:
        """Note variables that stand in subscripts; whether one of them is new."""
        new = set(names) - self.names
        self.names |= new
        return bool(new)

    def are_written(self, written: Collection[str]) -> bool:
        """Note what the kernel writes; whether a subscript is read from some of that."""
        new = self.used.intersection(written) - self.written
        self.written |= new
        self.used.clear()
        return bool(new)

    def is_only_read(self, region: Region, array: str) -> bool:
        """Whether an array of the caller is not known to be written."""
        found = region.arrays[array]
        return bool(found.extents) and found.storage is Storage.ARGUMENT and array not in self.written

    def only_reads(self, region: Region, value: Value) -> bool:
        """Whether a value is an integer that depends on arrays which are only read, and on nothing that is computed."""
        touches = region.touches_of(value.expr)
        return value.dtype.is_integer and bool(touches) and all(self.is_only_read(region, t.array) for t in touches)
