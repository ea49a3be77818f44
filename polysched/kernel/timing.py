"""Times of a kernel: all repeats, alternating with what it is compared with."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polysched.errors import UsageError, WrongResultError
from polysched.kernel.specialisation import Specialisation


@dataclass(frozen=True)
class KernelTiming:
    """What was measured.

    Parameters
    ----------
    seconds : wall time of every run of the compiled code, without copies of non-contiguous arrays.
    against_seconds : of the function that it was compared with, run by run in turn; empty without one.
    """

    seconds: tuple[float, ...]
    against_seconds: tuple[float, ...] = ()

    @property
    def median_seconds(self) -> float:
        """The median of the runs."""
        return statistics.median(self.seconds)

    @property
    def ratio(self) -> float | None:
        """The median over the pairs of how many times faster the kernel is; None without a comparison."""
        if not self.against_seconds:
            return None
        return statistics.median(b / a for a, b in zip(self.seconds, self.against_seconds, strict=True))

    def __str__(self) -> str:
        least = min(self.seconds) * 1e3
        text = f"{self.median_seconds * 1e3:.3f} ms (median of {len(self.seconds)}, least {least:.3f})"
        return text if self.ratio is None else f"{text}, {self.ratio:.2f} times as fast"


def time_call(kernel: Specialisation, values: Mapping[str, Any], sizes: Mapping[str, int], *, repeats: int,
              against: Callable[..., Any] | None) -> KernelTiming:
    """Time a kernel on copies of its arguments; the first run of each side warms up and is compared.

    Raises
    ------
    WrongResultError : the two sides compute different things; the witness is one element.
    """
    if repeats < 1:
        raise UsageError("a time needs at least one repeat")
    own: list[float] = []
    other: list[float] = []
    for turn in range(repeats + 1):
        mine = copy.deepcopy(dict(values))
        call = kernel.prepare(mine, sizes)
        started = time.perf_counter()
        call.run()
        own.append(time.perf_counter() - started)
        if against is None:
            continue
        theirs = copy.deepcopy(dict(values))
        started = time.perf_counter()
        returned = against(**theirs)
        other.append(time.perf_counter() - started)
        if turn == 0:
            call.copy_back()
            _compare(kernel, {**mine, "result": call.returned()}, {**theirs, "result": returned})
    return KernelTiming(tuple(own[1:]), tuple(other[1:]))


def _compare(kernel: Specialisation, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Refuse results that differ by more than rounding."""
    for name, value in mine.items():
        left, right = _flat(value), _flat(theirs[name])
        if len(left) != len(right):
            raise WrongResultError(f"{kernel.python.scop.name}: {name} has another number of parts")
        for a, b in zip(left, right, strict=True):
            tolerance = 1e-3 if a.dtype.kind == "f" and a.dtype.itemsize <= 4 else 1e-9
            close = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True) if a.shape == b.shape else None
            if close is None or not close.all():
                index = () if close is None else tuple(int(i) for i in np.argwhere(~close)[0])
                raise WrongResultError(f"{kernel.python.scop.name}: {name} differs from what it is compared with",
                                       witness=f"{name}{list(index)}: {a[index]} and {b[index]}" if close is not None
                                       else f"shapes {a.shape} and {b.shape}")


def _flat(value: Any) -> list[np.ndarray]:
    if value is None:
        return []
    return [np.asarray(v) for v in value] if isinstance(value, tuple) else [np.asarray(value)]
