"""Calls that are like earlier ones: what the checks found holds again where they would look at the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from polysched.kernel.limits import LIMITS
from polysched.kernel.specialisation import Specialisation

CallKey: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class KnownCall:
    """What the checks of a call found.

    Parameters
    ----------
    found : the code for the arguments.
    sizes : the Scop's parameters.
    """

    found: Specialisation
    sizes: Mapping[str, int]


def call_key(args: Sequence[Any]) -> CallKey | None:
    """All of a call's arguments that checks look at, but for addresses and contents of arrays; None for other kinds.

    Numbers that may be sizes count with their value, floating-point ones with their type.
    """
    key: list[object] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            key.append((value.dtype, value.shape, value.strides, value.flags.writeable))
        elif kind is float or issubclass(kind, np.floating):
            key.append(kind)
        elif kind is int or kind is bool or issubclass(kind, np.integer | np.bool_):
            key.append((kind, int(value)))
        else:
            return None
    return tuple(key)


def lie_apart(args: Sequence[Any]) -> bool:
    """Whether no byte between the first and the last of an array belongs to another array of the call."""
    bounds = sorted(_bounds(value) for value in args if type(value) is np.ndarray)
    return all(end <= start for (_, end), (start, _) in pairwise(bounds))


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """The address of the first byte, and one past the last."""
    start = int(array.__array_interface__["data"][0])
    if array.flags.c_contiguous:
        return start, start + array.nbytes
    reaches = [stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True)]
    return start + sum(min(reach, 0) for reach in reaches), start + sum(max(r, 0) for r in reaches) + array.itemsize


class KnownCalls:
    """The calls of one kernel whose arguments lay apart, the latest `LIMITS.known_calls` of them."""

    def __init__(self) -> None:
        self._calls: dict[CallKey, KnownCall] = {}

    def find(self, key: CallKey) -> KnownCall | None:
        """What was kept for the key."""
        return self._calls.get(key)

    def keep(self, key: CallKey, call: KnownCall) -> None:
        """Keep a call; the oldest goes where there are too many."""
        while len(self._calls) >= LIMITS.known_calls:
            self._calls.pop(next(iter(self._calls)), None)
        self._calls[key] = call
