"""Calls like earlier ones: arguments of types, shapes and strides whose checks have passed are not checked again.

What depends on more is asked in every call: where arrays lie, what names from outside stand for, subscripts from data.
A call that needs nothing but these questions goes straight to the compiled code (`direct_calls`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.kernel.cuda_arrays import CudaArray
from polysched.kernel.limits import LIMITS
from polysched.records import dataclass

if TYPE_CHECKING:
    from polysched.kernel.choosing import Choice
    from polysched.kernel.direct_calls import DirectCall
    from polysched.kernel.specialisation import Specialisation

MOST_CALLS = LIMITS.kept_calls
ALIGNED_WRITEABLE = 0x0100 | 0x0400
"""`NPY_ARRAY_ALIGNED` and `NPY_ARRAY_WRITEABLE` (NumPy C-API, array flags)."""

ARRAY = np.ndarray
Signature = tuple[object, ...]


def signature_of(values: Iterable[Any]) -> Signature | None:
    """What the checks of arguments depend on, and nothing else; None for arguments that every call has to look at.

    Those are arrays of subclasses, but for arrays of a GPU, and what is neither an array nor a number.
    """
    found: list[object] = []
    for value in values:
        if type(value) is ARRAY:
            found += (value.dtype, value.shape, value.strides, value.flags.num & ALIGNED_WRITEABLE)
        elif type(value) is CudaArray:
            found += (CudaArray, value.dtype, value.shape, value.strides, value.flags.num & ALIGNED_WRITEABLE)
        elif isinstance(value, (int, np.integer)):
            found += (type(value), int(value))   # may be a size; True is another one than 1
        elif isinstance(value, (float, np.floating)):
            found.append(type(value))
        else:
            return None
    return tuple(found)


def lie_apart(values: Mapping[str, Any]) -> bool:
    """Whether no two arrays can share memory, by the ranges of their addresses."""
    arrays = [v for v in values.values() if isinstance(v, np.ndarray)]
    return not any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2))


@dataclass(frozen=True, eq=False)
class KnownCalls:
    """Per signature the specialisation and the sizes that calls with it have; the oldest goes."""

    found: dict[Signature, tuple[Specialisation, dict[str, int]]] = field(default_factory=dict)
    direct: dict[Signature, tuple[Specialisation, DirectCall, Choice | None] | None] = field(default_factory=dict)

    def look_up(self, signature: Signature | None) -> tuple[Specialisation, dict[str, int]] | None:
        """What an earlier call with this signature ran."""
        return None if signature is None else self.found.get(signature)

    def keep(self, signature: Signature, found: Specialisation, sizes: dict[str, int]) -> None:
        """Remember a call whose checks have passed."""
        while len(self.found) >= MOST_CALLS:
            oldest = next(iter(self.found))
            del self.found[oldest]
            self.direct.pop(oldest, None)
        self.found[signature] = found, sizes
        self.direct.pop(signature, None)

    def direct_for(self, signature: Signature | None) -> tuple[Specialisation, DirectCall, Choice | None] | None:
        """What a call with this signature, all arguments by their places, goes straight to, how, and as what choice."""
        return None if signature is None else self.direct.get(signature)

    def keep_direct(self, signature: Signature | None, found: Specialisation,
                    call: Callable[[], DirectCall | None], choice: Choice | None) -> None:
        """Remember how the next call with this signature goes straight to its code, if it can."""
        known = self.look_up(signature)
        if signature is not None and known is not None and known[0] is found and signature not in self.direct:
            made = call()
            self.direct[signature] = None if made is None else (found, made, choice)
