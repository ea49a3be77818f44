"""Compare what two programs left in an array: exactly for integers, within a tolerance for floats.

The tolerance is relative to the larger of the element and the array's mean magnitude, so that an element which
cancelled to almost zero is not held to digits that it cannot have.  NaN equals NaN only, and an infinity
equals itself only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polysched.measure.programs.inputs import FLOATS, as_numbers

NDArray = npt.NDArray[Any]

TOLERANCE: Mapping[str, float] = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 1e-4, "float64": 1e-9,
                                  "longdouble": 1e-12}
CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ArrayComparison:
    """The difference between the reference's and the candidate's version of one array.

    Parameters
    ----------
    array : its name.
    dtype : type of its elements.
    elements : how many it has.
    mismatches : how many of them differ beyond the tolerance.
    not_finite : elements of the reference that are NaN or infinite.
    changed : the reference changed at least one element of its input.
    largest_absolute : largest difference of an element.
    largest_relative : the same, relative to the larger of the element and the mean magnitude of the array.
    tolerance : the relative difference that is allowed; 0 for integers.
    worst_index : the first element with the largest relative difference among those that mismatch, or among all.
    expected : the reference's value of that element.
    got : the candidate's value of it.
    """

    array: str
    dtype: str
    elements: int
    mismatches: int
    not_finite: int
    changed: bool
    largest_absolute: float
    largest_relative: float
    tolerance: float
    worst_index: tuple[int, ...] | None = None
    expected: float | None = None
    got: float | None = None


def compare(name: str, dtype_name: str, *, reference: NDArray, result: NDArray, pristine: NDArray,
            tolerance: float | None = None) -> ArrayComparison:
    """Compare two arrays of one shape element by element, in pieces that need little memory.

    Parameters
    ----------
    pristine : what the reference started from.
    tolerance : replaces the one of the element type.
    """
    allowed = 0.0 if dtype_name not in FLOATS else TOLERANCE[dtype_name] if tolerance is None else tolerance
    flat = [a.reshape(-1) for a in (reference, result, pristine)]
    scale = _mean_magnitude(flat[0], dtype_name) if dtype_name in FLOATS else 0.0
    totals = _Totals()
    for start in range(0, flat[0].size, CHUNK):
        totals.add(*(as_numbers(a[start:start + CHUNK], dtype_name) for a in flat), start=start, scale=scale,
                   allowed=allowed, exact=dtype_name not in FLOATS)
    worst = None if totals.worst_at is None else tuple(
        int(i) for i in np.unravel_index(totals.worst_at, reference.shape))
    return ArrayComparison(
        array=name, dtype=dtype_name, elements=int(flat[0].size), mismatches=totals.mismatches,
        not_finite=totals.not_finite, changed=totals.changed, largest_absolute=totals.absolute,
        largest_relative=totals.relative, tolerance=allowed, worst_index=worst,
        expected=totals.expected, got=totals.got)


def _mean_magnitude(flat: NDArray, dtype_name: str) -> float:
    """The mean of the absolute values that are finite."""
    total, count = 0.0, 0
    for start in range(0, flat.size, CHUNK):
        part = as_numbers(flat[start:start + CHUNK], dtype_name)
        magnitudes = np.abs(part[np.isfinite(part)].astype(np.longdouble))
        total += float(magnitudes.sum())
        count += magnitudes.size
    return total / count if count else 0.0


class _Totals:
    """Running totals over the pieces of one array."""

    def __init__(self) -> None:
        self.mismatches = 0
        self.not_finite = 0
        self.changed = False
        self.absolute = 0.0
        self.relative = 0.0
        self.worst_at: int | None = None
        self.expected: float | None = None
        self.got: float | None = None
        self._worst = -1.0

    def add(self, reference: NDArray, result: NDArray, pristine: NDArray, *, start: int, scale: float,
            allowed: float, exact: bool) -> None:
        """Take one piece into account."""
        if not self.changed:
            self.changed = bool((~_same(reference, pristine)).any())
        same = _same(reference, result)
        if not exact:
            self.not_finite += int((~np.isfinite(reference)).sum())
        if same.all():
            return
        wide = np.longdouble
        with np.errstate(invalid="ignore", over="ignore"):
            difference = np.where(same, 0, np.abs(reference.astype(wide) - result.astype(wide)))
            size = np.maximum(np.abs(reference.astype(wide)), wide(scale))
            relative = np.divide(difference, size, out=np.where(difference == 0, wide(0), wide(np.inf)), where=size > 0)
        difference = np.where(np.isnan(difference), np.inf, difference)
        relative = np.where(np.isnan(relative), np.inf, relative)
        wrong = ~same if exact else ~(relative <= allowed)
        self.mismatches += int(wrong.sum())
        self.absolute = max(self.absolute, float(difference.max()))
        self.relative = max(self.relative, float(relative.max()))
        at = int(relative.argmax())
        if float(relative[at]) > self._worst:
            self._worst = float(relative[at])
            self.worst_at = start + at
            self.expected, self.got = float(reference[at]), float(result[at])


def _same(left: NDArray, right: NDArray) -> NDArray:
    """Elements that are equal, NaN being equal to NaN."""
    if left.dtype.kind != "f":
        return np.asarray(left == right)
    return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))
