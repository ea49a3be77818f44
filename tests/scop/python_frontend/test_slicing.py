"""Slices and indices select what NumPy selects, at every bound."""

import itertools

import numpy as np
import pytest

from polysched.errors import PolyschedError
from polysched.scop.construction import values
from polysched.scop.construction.region import Region
from polysched.scop.dtypes import FLOAT64
from polysched.scop.python_frontend.operands import View, whole_view
from polysched.scop.python_frontend.slicing import Dots, NewAxis, Slice, indexed, slice_bounds
from polysched.scop.scop import Storage
from tests.scop.python_frontend.running import check, extracted

BOUNDS = [None, -9, -3, -1, 0, 1, 4, 5, 9]


def number(value: int | None) -> values.Value | None:
    return None if value is None else values.number(value)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -4])
def test_bounds_are_clipped_as_pythons(step: int) -> None:
    region = Region("test")
    for lower, upper, extent in itertools.product(BOUNDS, BOUNDS, (0, 1, 5)):
        start, length = slice_bounds(region, Slice(number(lower), number(upper), step), values.number(extent))
        expected = range(extent)[lower:upper:step]
        assert values.constant_of(length) == len(expected)
        if expected:
            assert values.constant_of(start) == expected[0]


def view(*extents: int) -> tuple[Region, View]:
    region = Region("test")
    shape = tuple(values.number(e) for e in extents)
    region.declare("A", FLOAT64, shape, storage=Storage.ARGUMENT)
    return region, whole_view(region, "A", shape)


def selected(part: View, *indices: int) -> list[object]:
    return [values.constant_of(s) for s in part.at(tuple(values.number(i) for i in indices))]


def test_indices_slices_new_axes_and_dots_compose() -> None:
    region, whole = view(4, 6, 8)
    part = indexed(region, whole, [values.number(-1), Dots(), Slice(values.number(6), None, -2), NewAxis()])
    assert [values.constant_of(e) for e in part.shape] == [6, 4, 1]
    assert selected(part, 5, 1, 0) == [3, 5, 4]
    inner = indexed(region, part, [Slice(values.number(1), None), values.number(-1)])
    assert [values.constant_of(e) for e in inner.shape] == [5, 1]
    assert selected(inner, 0, 0) == [3, 1, 0]


@pytest.mark.parametrize(("items", "words"), [
    ([Slice(None, None)] * 3, "too many indices: A has 2 dimensions here, 3 are indexed"),
    ([Dots(), Dots()], "at most once"), ([values.number(0.5)], "not an integer")])
def test_indices_that_do_not_fit(items: list[object], words: str) -> None:
    region, whole = view(4, 6)
    with pytest.raises(values.CannotExpress, match=words):
        indexed(region, whole, items)


def backwards(a, b):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[-1 - i] + a[i - n]
    b[::-2] += a[1::2]
    b[:-2:] *= a[2:]


def test_negative_indices_count_from_the_end() -> None:
    check(backwards, np.arange(8.0), np.zeros(8))


def by_data(a, b):
    b[a[0]:] = 1


def test_a_bound_that_depends_on_data_is_refused() -> None:
    with pytest.raises(PolyschedError, match="a bound of the slice is not affine"):
        extracted(by_data, np.zeros(4, "int64"), np.zeros(4))
