"""What a worker runs of a distributed program: a rank's part of a step, and the packing of what it wrote.

This module imports no room that makes code: workers load it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from polysched.records import dataclass
from polysched.runtime.dataflow.codes import KernelCode

Place = tuple[Any, ...]
"""An index of NumPy: slices, or one array of subscripts per dimension."""

Pieces = tuple[tuple[str, Place], ...]
"""Arrays with places in them, in the order of a message's parts."""


@dataclass(frozen=True, kw_only=True)
class RankStep:
    """What a rank does in one step.

    Parameters
    ----------
    values : parameters of the kernel; None where the rank has nothing to run.
    rows : per array the first row of its shard.
    takes, sends : per other rank, in order.
    """

    values: Mapping[str, int] | None
    rows: Mapping[str, int]
    takes: tuple[Pieces, ...]
    sends: tuple[Pieces, ...]


@dataclass(frozen=True, kw_only=True)
class DistributedCode:
    """The part of any rank in any step.

    Parameters
    ----------
    kernel : its instances as C.
    arrays : in the order of the node's arguments, behind the `RankStep`; messages from other ranks follow.
    changed : those that the node writes; the first of its values.  Messages to other ranks follow.
    others : the number of other ranks.
    """

    kernel: KernelCode
    arrays: tuple[str, ...]
    changed: tuple[str, ...]
    others: int

    @cached_property
    def key(self) -> str:
        """Of the kernel, and of the number of ranks."""
        return f"{self.kernel.key} on {self.others + 1}"

    @property
    def results(self) -> int:
        """The changed arrays, and a message for each other rank."""
        return len(self.changed) + self.others

    def load(self) -> Callable[..., tuple[Any, ...]]:
        """The node's function."""
        enter = self.kernel.enter()

        def run(step: RankStep, *arguments: Any) -> tuple[Any, ...]:
            arrays = dict(zip(self.arrays, arguments, strict=False))
            arrays |= {name: np.array(arrays[name], order="C") for name in self.changed}
            for pieces, values in zip(step.takes, arguments[len(self.arrays):], strict=True):
                for (name, place), value in zip(pieces, values, strict=True):
                    arrays[name][place] = value
            if step.values is not None:
                enter({**step.values, **{name: self._argument(name, array, step) for name, array in arrays.items()}})
            return (*(arrays[name] for name in self.changed),
                    *(tuple(np.array(arrays[name][place], order="C") for name, place in pieces)
                      for pieces in step.sends))
        return run

    def _argument(self, name: str, array: np.ndarray, step: RankStep) -> Any:
        """The address of row 0 of the whole array, of which a shard holds some rows."""
        if not array.ndim:
            return array
        return int(array.ctypes.data) - step.rows[name] * array.strides[0]


@dataclass(frozen=True, kw_only=True)
class CollectCode:
    """What a rank wrote last, packed."""

    results: int = 1
    key: str = "collect"

    def load(self) -> Callable[..., tuple[Any, ...]]:
        """A function of places and arrays."""
        def run(places: Sequence[Place], *arrays: Any) -> tuple[Any, ...]:
            return (tuple(np.array(array[place], order="C") for place, array in zip(places, arrays, strict=True)),)
        return run
