"""Compare what two programs left in an array: exactly for integers, within a tolerance for floats.

The tolerance is relative to the larger of the element and the array's mean magnitude, so that an element which
cancelled to almost zero is not held to digits that it cannot have.  NaN equals NaN only, and an infinity
equals itself only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from polysched.measure.programs.inputs import FLOATS, as_numbers
from polysched.records import dataclass

NDArray = npt.NDArray[Any]

TOLERANCE: Mapping[str, float] = {"float16": 2e-2, "bfloat16": 6e-2, "float32": 1e-4, "float64": 1e-9,
                                  "longdouble": 1e-12}
CHUNK = 1 << 20
ROUNDED = frozenset({"float16", "bfloat16", "float32", "float64"})
"""Types whose differences double precision tells to far more digits than a tolerance has."""


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


@dataclass(frozen=True, kw_only=True)
class ReferenceFacts:
    """What comparisons with one reference have in common.

    Parameters
    ----------
    scale : the mean magnitude of its elements; 0 for integers.
    not_finite, changed : as of `ArrayComparison`.
    """

    scale: float
    not_finite: int
    changed: bool


def facts_of(dtype_name: str, *, reference: NDArray, pristine: NDArray) -> ReferenceFacts:
    """Look at a reference once for many comparisons with it."""
    is_float = dtype_name in FLOATS
    left, start = reference.reshape(-1), pristine.reshape(-1)
    changed, not_finite = False, 0
    for at in range(0, left.size, CHUNK):
        mine, before = (as_numbers(a[at:at + CHUNK], dtype_name) for a in (left, start))
        changed = changed or not _same(mine, before).all()
        not_finite += int((~np.isfinite(mine)).sum()) if is_float else 0
    return ReferenceFacts(scale=_mean_magnitude(left, dtype_name) if is_float else 0.0, not_finite=not_finite,
                          changed=changed)


def compare(name: str, dtype_name: str, *, reference: NDArray, result: NDArray, pristine: NDArray,
            tolerance: float | None = None, known: ReferenceFacts | None = None) -> ArrayComparison:
    """Compare two arrays of one shape element by element, in pieces that need little memory.

    Parameters
    ----------
    pristine : what the reference started from.
    tolerance : replaces the one of the element type.
    known : of the reference; found here where it is not given.
    """
    allowed = 0.0 if dtype_name not in FLOATS else TOLERANCE[dtype_name] if tolerance is None else tolerance
    facts = known or facts_of(dtype_name, reference=reference, pristine=pristine)
    flat = [a.reshape(-1) for a in (reference, result)]
    totals = _Totals()
    for start in range(0, flat[0].size, CHUNK):
        totals.add(*(as_numbers(a[start:start + CHUNK], dtype_name) for a in flat), start=start, scale=facts.scale,
                   allowed=allowed, wide=np.dtype(np.float64 if dtype_name in ROUNDED else np.longdouble),
                   exact=dtype_name not in FLOATS)
    worst = None if totals.worst_at is None else tuple(
        int(i) for i in np.unravel_index(totals.worst_at, reference.shape))
    return ArrayComparison(
        array=name, dtype=dtype_name, elements=int(flat[0].size), mismatches=totals.mismatches,
        not_finite=facts.not_finite, changed=facts.changed, largest_absolute=totals.absolute,
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
        self.absolute = 0.0
        self.relative = 0.0
        self.worst_at: int | None = None
        self.expected: float | None = None
        self.got: float | None = None
        self._worst = -1.0

    def add(self, reference: NDArray, result: NDArray, *, start: int, scale: float, allowed: float,
            wide: np.dtype[Any], exact: bool) -> None:
        """Take one piece into account; differences are taken in the type `wide`."""
        places = np.flatnonzero(~_same(reference, result))
        if not places.size:
            return
        expected, got = reference[places].astype(wide), result[places].astype(wide)
        with np.errstate(invalid="ignore", over="ignore"):
            difference = np.abs(expected - got)
            size = np.maximum(np.abs(expected), wide.type(scale))
            relative = np.divide(difference, size, out=np.where(difference == 0, wide.type(0), wide.type(np.inf)),
                                 where=size > 0)
        difference = np.where(np.isnan(difference), np.inf, difference)
        relative = np.where(np.isnan(relative), np.inf, relative)
        self.mismatches += int(places.size if exact else (~(relative <= allowed)).sum())
        self.absolute = max(self.absolute, float(difference.max()))
        self.relative = max(self.relative, float(relative.max()))
        at = int(relative.argmax())
        if float(relative[at]) > self._worst:
            self._worst = float(relative[at])
            self.worst_at = start + int(places[at])
            self.expected, self.got = float(expected[at]), float(got[at])


def _same(left: NDArray, right: NDArray) -> NDArray:
    """Elements that are equal, NaN being equal to NaN."""
    same = np.asarray(left == right)
    if left.dtype.kind != "f" or same.all():
        return same
    return np.asarray(same | (np.isnan(left) & np.isnan(right)))
