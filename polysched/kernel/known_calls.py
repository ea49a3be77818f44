"""Calls like earlier ones: arguments of types, shapes and strides whose checks have passed are not checked again.

What depends on more is asked in every call: where arrays lie, what names from outside stand for, subscripts from data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.kernel.limits import LIMITS

if TYPE_CHECKING:
    from polysched.kernel.specialisation import Specialisation

MOST_CALLS = LIMITS.kept_calls


def signature_of(values: Mapping[str, Any]) -> tuple[object, ...] | None:
    """What the checks of arguments depend on, and nothing else; None for arguments that every call has to look at.

    Those are arrays of subclasses, and what is neither an array nor a number.
    """
    found: list[object] = []
    for value in values.values():
        if type(value) is np.ndarray:
            flags = value.flags
            found.append((value.dtype, value.shape, value.strides, flags.writeable))
        elif isinstance(value, (int, np.integer)):
            found.append((type(value), int(value)))   # may be a size; True is another one than 1
        elif isinstance(value, (float, np.floating)):
            found.append(type(value))
        else:
            return None
    return tuple(found)


def lie_apart(values: Mapping[str, Any]) -> bool:
    """Whether no two arrays can share memory, by the ranges of their addresses."""
    arrays = [v for v in values.values() if type(v) is np.ndarray]
    return not any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2))


@dataclass(frozen=True, eq=False)
class KnownCalls:
    """Per signature the specialisation and the sizes that calls with it have; the oldest goes."""

    found: dict[tuple[object, ...], tuple[Specialisation, dict[str, int]]] = field(default_factory=dict)

    def look_up(self, signature: tuple[object, ...] | None) -> tuple[Specialisation, dict[str, int]] | None:
        """What an earlier call with this signature ran."""
        return None if signature is None else self.found.get(signature)

    def keep(self, signature: tuple[object, ...], found: Specialisation, sizes: dict[str, int]) -> None:
        """Remember a call whose checks have passed."""
        while len(self.found) >= MOST_CALLS:
            del self.found[next(iter(self.found))]
        self.found[signature] = found, sizes
