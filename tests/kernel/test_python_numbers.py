"""Python numbers that do not fit the type of what they meet are refused, as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError

Array = np.ndarray[Any, Any]


def added(x: Array, n: int) -> None:
    for i in range(x.shape[0]):
        x[i] += n


def stored(x: Array, n: int) -> None:
    for i in range(x.shape[0]):
        x[i] = 2 * n - 1


def summed(x: Array, n: int) -> None:
    for i in range(x.shape[0]):
        x[i] = (x[i] + n) * 1


def length(x: Array, n: int) -> None:
    for i in range(x.shape[0]):
        x[i] = x.shape[0] + 0 * n


def multiplied(x: Array, n: int) -> None:
    for i in range(x.shape[0]):
        x[i] = x[i] * n


def quotient(x: Array, n: int) -> None:
    for i in range(x.shape[0]):
        x[i] = x[i] // n


@pytest.mark.parametrize("function", [quotient, multiplied])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_short_quotients_and_products_take_no_wider_number(function: Callable[..., None], dtype: type) -> None:
    kernel = polysched.kernel(function)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for n in (low - 1, high + 1, 2 * high + 2, 2**31 - 1):
        given = np.ones(3, dtype)
        with pytest.raises(UsageError, match="does not hold"):
            kernel(given, n)
        np.testing.assert_array_equal(given, 1)
    given = np.full(3, 7, dtype)
    kernel(given, 3)
    np.testing.assert_array_equal(given, 2 if function is quotient else 21)


@pytest.mark.parametrize("function", [added, stored, summed, length])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.uint64, np.int64])
def test_what_numpy_refuses_is_refused(function: Callable[..., None], dtype: type) -> None:
    kernel = polysched.kernel(function)
    for n in (0, 1, -1, 64, 65, 127, 128, -64, -128, 2**30, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**40):
        ours, numpy_own = np.zeros(3, dtype), np.zeros(3, dtype)
        try:
            with np.errstate(over="ignore"):
                function(numpy_own, n)
        except OverflowError:
            with pytest.raises(UsageError, match=r"which u?int(8|32|64) does not hold"):
                kernel(ours, n)
            np.testing.assert_array_equal(ours, 0)
        else:
            kernel(ours, n)
            np.testing.assert_array_equal(ours, numpy_own)


def test_a_shape_is_a_python_number() -> None:
    kernel = polysched.kernel(length)
    kernel(np.zeros(127, np.int8), 0)
    with pytest.raises(UsageError, match="is 128, which int8 does not hold"):
        kernel(np.zeros(128, np.int8), 0)


def test_numbers_of_numpy_wrap_around_and_floats_take_all() -> None:
    def narrowed(x: Array, n: np.int64) -> None:
        for i in range(x.shape[0]):
            x[i] = np.int32(n)

    given = np.zeros(2, np.float32)
    polysched.kernel(added)(given, 2**40)
    np.testing.assert_array_equal(given, np.float32(2**40))
    whole = np.zeros(2, np.int32)
    polysched.kernel(narrowed)(whole, np.int64(2**32 + 5))
    np.testing.assert_array_equal(whole, 5)
