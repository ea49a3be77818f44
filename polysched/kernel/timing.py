"""Times of a kernel: all repeats, alternating with what it is compared with."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from polysched.errors import UsageError, WrongResultError
from polysched.kernel.specialisation import Specialisation
from polysched.measure.timing.race import pairs
from polysched.records import dataclass


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
    if against is None:
        return KernelTiming(tuple(_called(kernel, values, sizes).seconds for _ in range(repeats + 1))[1:])
    taken: list[tuple[float, float]] = []
    for pair in pairs(partial(_called, kernel, values, sizes), partial(_called_function, against, values),
                      most=repeats, begin=-1):
        if not taken:
            _agree(kernel, pair.first, pair.own)
        taken.append((pair.first.seconds, pair.own.seconds))
    return KernelTiming(tuple(own for own, _ in taken[1:]), tuple(other for _, other in taken[1:]))


@dataclass(frozen=True, eq=False)
class _Called:
    """One call on copies of the arguments: its seconds, what the arguments are then, and what it returned."""

    seconds: float
    values: Mapping[str, Any]
    returned: Any


def _called(kernel: Specialisation, values: Mapping[str, Any], sizes: Mapping[str, int]) -> _Called:
    """Of the compiled code; what is no plain array is copied back behind the time."""
    mine = _copies(values)
    call = kernel.prepare(mine, sizes)
    started = time.perf_counter()
    call.run()
    seconds = time.perf_counter() - started
    call.copy_back()
    return _Called(seconds, mine, call.returned())


def _called_function(function: Callable[..., Any], values: Mapping[str, Any]) -> _Called:
    theirs = _copies(values)
    started = time.perf_counter()
    returned = function(**theirs)
    return _Called(time.perf_counter() - started, theirs, returned)


def _agree(kernel: Specialisation, mine: _Called, theirs: _Called) -> None:
    """Refuse two calls that did different things."""
    for name in mine.values:
        _compare(kernel, name, mine.values[name], theirs.values[name])
    _compare(kernel, "the result", mine.returned, theirs.returned)


def _copies(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments on memory of their own; two that are the same elements, perhaps by two views, are one copy."""
    places = {name: (value.__array_interface__["data"][0], value.shape, value.strides, value.dtype)
              if isinstance(value, np.ndarray) else name for name, value in values.items()}
    made: dict[object, Any] = {}
    for name, place in places.items():
        if place not in made:
            made[place] = copy.deepcopy(values[name])
    return {name: made[place] for name, place in places.items()}


def _compare(kernel: Specialisation, name: str, mine: Any, theirs: Any) -> None:
    """Refuse results that differ by more than rounding; whole numbers are not rounded."""
    left, right = _flat(mine), _flat(theirs)
    if len(left) != len(right):
        raise WrongResultError(f"{kernel.python.scop.name}: {name} has another number of parts")
    for a, b in zip(left, right, strict=True):
        if a.shape != b.shape:
            raise _difference(kernel, name, f"shapes {a.shape} and {b.shape}")
        close = _are_close(a, b)
        if not close.all():
            index = tuple(int(i) for i in np.argwhere(~close)[0])
            raise _difference(kernel, name, f"{name}{list(index)}: {a[index]} and {b[index]}")


def _difference(kernel: Specialisation, name: str, witness: str) -> WrongResultError:
    return WrongResultError(f"{kernel.python.scop.name}: {name} differs from what it is compared with", witness=witness)


def _are_close(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two results of one shape agree."""
    if a.dtype.kind in "iub" and b.dtype.kind in "iub":
        return np.asarray(a == b)
    tolerance = 1e-3 if a.dtype.kind == "f" and a.dtype.itemsize <= 4 else 1e-9
    return np.asarray(np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))


def _flat(value: Any) -> list[np.ndarray]:
    if value is None:
        return []
    return [np.asarray(v) for v in value] if isinstance(value, tuple) else [np.asarray(value)]
