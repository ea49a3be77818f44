"""A timed kernel is compared with another function: every argument, every bit of whole numbers, what returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError, WrongResultError
from polysched.kernel.timing import KernelTiming


@polysched.kernel
def shifted(result, x):
    for i in range(1, x.shape[0]):
        result[i] = x[i - 1] + x[i]


@polysched.kernel
def doubled(x):
    return x * 2


def test_every_run_is_kept_and_the_arguments_are_left_alone() -> None:
    x, result = np.arange(9.0), np.zeros(9)
    timing = shifted.time(result, x, repeats=3, against=shifted.function)
    assert (len(timing.seconds), len(timing.against_seconds)) == (3, 3)
    assert not result.any()
    assert shifted.time(result, x, repeats=1).against_seconds == ()


def test_an_argument_called_result_is_compared_as_every_other() -> None:
    with pytest.raises(WrongResultError, match="shifted: result differs") as caught:
        shifted.time(np.zeros(9), np.arange(9.0), repeats=1, against=lambda result, x: None)
    assert "result[1]: 1.0 and 0.0" in str(caught.value)


@pytest.mark.parametrize(("dtype", "value"), [("int64", 2**60), ("int32", 2**30 - 1), ("uint64", 2**62)])
def test_whole_numbers_agree_in_every_bit(dtype: str, value: int) -> None:
    x = np.full(3, value, dtype)
    with pytest.raises(WrongResultError, match="the result differs"):
        doubled.time(x, repeats=1, against=lambda x: x * 2 + x.dtype.type(1))
    assert doubled.time(x, repeats=1, against=lambda x: x * 2).seconds


@pytest.mark.parametrize(("dtype", "error", "agrees"), [
    ("float64", 1e-12, True), ("float64", 1e-6, False), ("float32", 1e-5, True), ("float32", 0.1, False)])
def test_floats_agree_but_for_rounding(dtype: str, error: float, agrees: bool) -> None:
    def against(x: np.ndarray) -> np.ndarray:
        return (x * 2 + error).astype(dtype)
    x = np.array([1.0, np.nan, np.inf, 0.5], dtype)
    if agrees:
        assert doubled.time(x, repeats=1, against=against).seconds
    else:
        with pytest.raises(WrongResultError, match=r"the result\[0\]"):
            doubled.time(x, repeats=1, against=against)


@pytest.mark.parametrize(("against", "message"), [
    (lambda x: None, "another number of parts"), (lambda x: (x * 2, x), "another number of parts"),
    (lambda x: x[:2] * 2, r"shapes \(3,\) and \(2,\)")])
def test_results_of_another_form_are_no_comparison(against: Callable[[np.ndarray], Any], message: str) -> None:
    with pytest.raises(WrongResultError, match=message):
        doubled.time(np.arange(3.0), repeats=1, against=against)


def test_two_views_of_the_same_elements_stay_one_array() -> None:
    x = np.arange(1.0, 9.0)
    assert shifted.time(x, x[:], repeats=1, against=shifted.function).seconds
    assert x[1] == 2.0


def test_no_time_without_a_run() -> None:
    with pytest.raises(UsageError, match="at least one repeat"):
        doubled.time(np.arange(3.0), repeats=0)
    with pytest.raises(UsageError, match="nothing to time for empty arrays"):
        doubled.time(np.zeros(0), repeats=1)


def test_the_ratio_that_is_shown_is_of_what_is_in_the_middle() -> None:
    timing = KernelTiming((1.0, 2.0, 30.0), (4.0, 4.0, 4.0))
    assert str(timing) == "2000.000 ms (median of 3, least 1000.000), 2.00 times as fast"
    assert str(KernelTiming((0.5, 0.25))) == "375.000 ms (median of 2, least 250.000)"
