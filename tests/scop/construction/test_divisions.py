"""Divisions of integers by any divisor, beside NumPy's, and none that C leaves open."""

import numpy as np
import pytest

from polysched.scop.body import Select, walk
from polysched.scop.construction import divisions, functions, values
from polysched.scop.dtypes import BOOL, FLOAT64, INT8, INT32, UINT8, DType
from polysched.scop.python_frontend.elementwise import ELEMENTWISE
from tests.scop.construction.elementwise import computed

CASES = [(np.floor_divide, divisions.floor_divide), (np.mod, divisions.modulo),
         (np.fmod, divisions.truncated_remainder)]


def column(dtype: DType) -> np.ndarray:
    if dtype == BOOL:
        return np.array([False, True])
    limits = np.iinfo(dtype.name)
    return np.unique([limits.min, limits.min + 1, *([-3, -1] if limits.min else []), 0, 1, 2, limits.max]
                     ).astype(dtype.name)


@pytest.mark.parametrize("dtype", [BOOL, INT8, UINT8, INT32])
@pytest.mark.parametrize(("theirs", "ours"), CASES)
def test_every_pair_of_corners(theirs: np.ufunc, ours: divisions.Divide, dtype: DType) -> None:
    left, right = (grid.ravel() for grid in np.meshgrid(column(dtype), column(dtype)))
    with np.errstate(all="ignore"):
        expected = theirs(left, right)
    found = computed(ours, left, right)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_zero_is_divided_as_it_is() -> None:
    x = values.cast(values.number(1), INT32)
    for right in (values.number(7), values.number(-2), values.cast(x, FLOAT64)):
        assert divisions.modulo(x, right).expr == functions.modulo(x, right).expr
    assert any(isinstance(node, Select) for node in walk(divisions.modulo(x, values.number(0)).expr))


@pytest.mark.parametrize(("theirs", "ours"), [*CASES[:2], (np.fmod, ELEMENTWISE[np.fmod])])
def test_what_numpy_divides_as_floats(theirs: np.ufunc, ours: divisions.Divide) -> None:
    left, right = np.array([5, -5, 0, -7]), np.array([0, 3, 0, 2], "uint64")
    with np.errstate(all="ignore"):
        expected = theirs(left, right)
    found = computed(ours, left, right)
    assert found.dtype == expected.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
