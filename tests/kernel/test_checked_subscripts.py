"""Kernels with subscripts that are read from arrays: against plain Python, and refused before anything runs."""

import numpy as np
import pytest

import polysched
from polysched.kernel import FallbackWarning
from polysched.kernel.checked_subscripts import SubscriptError
from polysched.scop.python_frontend import from_python

RNG = np.random.default_rng(5)


def histogram(h, index):
    for i in range(len(index)):
        h[index[i]] += 1


def gather(x, index, y):
    for i in range(len(index)):
        j = index[i]
        if j >= 0:
            y[i] = x[j] * 2


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("count", [1, 31, 33, 40_000])
def test_a_histogram(dtype: str, count: int) -> None:
    index = RNG.integers(0, 20, count).astype(dtype)
    h = RNG.integers(0, 9, 20)
    expected = h + np.bincount(index, minlength=20)
    polysched.kernel(histogram)(h, index)
    np.testing.assert_array_equal(h, expected)


def test_a_condition_keeps_subscripts_inside() -> None:
    x, index, y = np.arange(10.0), RNG.integers(-1, 10, 999), np.zeros(999)
    expected = np.where(index >= 0, x[index] * 2, 0)
    polysched.kernel(gather)(x, index, y)
    np.testing.assert_array_equal(y, expected)


def test_subscripts_outside_are_refused_before_anything_runs() -> None:
    kernel = polysched.kernel(histogram)
    h = np.zeros(10)
    for index, witness in (([1, 10], "index holds 1 to 10"), ([-1, 2], "index holds -1 to 2")):
        with pytest.raises(SubscriptError, match=r"histogram: 1 of the subscripts of h in line \d+ lie outside its "
                                                 r"shape \(10,\)") as caught:
            kernel(h, np.array(index))
        assert witness in str(caught.value)
        with pytest.raises(SubscriptError):
            kernel.time(h, np.array(index))
    assert not h.any()


def test_negative_subscripts_run_as_python() -> None:
    kernel = polysched.kernel(histogram, fallback=True)
    h = np.zeros(10)
    with pytest.warns(FallbackWarning, match="1 of the subscripts of h"):
        kernel(h, np.array([-1, 2]))
    assert h.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 1]


def test_a_scop_is_checked_as_well() -> None:
    h, index = np.zeros(10), np.array([3, 3, 4])
    call = polysched.compile(from_python(histogram, h, index))
    call(h, index)
    assert h.tolist() == [0, 0, 0, 2, 1, 0, 0, 0, 0, 0]
    with pytest.raises(SubscriptError):
        call(h, np.array([12]))
