"""Budgets of isl operations: the value, None, or the error that has nothing to do with the budget."""

import os
import time

import islpy as isl
import pytest

from polysched.scop import isl_clock
from polysched.scop.budget import ANY_NUMBER, in_words, with_budget

needs_clock = pytest.mark.skipif(isl_clock.clock() is None, reason="no POSIX timers, or another layout of islpy")


def costly() -> isl.Set:
    result = isl.Set("[n] -> { [i, j] : 0 <= i < n }")
    for k in range(20):
        result = result.subtract(isl.Set(f"[n] -> {{ [i, j] : {k} <= j - i <= n - {k} }}")).coalesce()
    return result


def test_value_or_none() -> None:
    assert with_budget(10_000_000, costly) is not None
    assert with_budget(50, costly) is None
    assert costly().is_equal(costly()), "isl works again after a budget was used up"


def test_other_errors_pass_through() -> None:
    with pytest.raises(isl.Error):
        with_budget(1_000_000, lambda: isl.Set("{ [i] : 0 <= }"))


def test_the_smaller_of_two_budgets_holds_inside() -> None:
    assert with_budget(10_000_000, lambda: (with_budget(50, costly), costly())[0]) is None
    assert with_budget(50, lambda: with_budget(10_000_000, costly)) is None
    assert with_budget(10_000_000, lambda: (with_budget(50, costly), costly())) is not None


def endless() -> int:
    """A count of some 10^12 points, one by one."""
    return int(isl.Set("{ [i, j, k, l] : 0 <= l < k < j < i < 9999 and (i + l) mod 7 = 3 }").count_val().to_python())


def small() -> int:
    return int(isl.Set("{ [i] : 0 <= i < 7 }").count_val().to_python())


@needs_clock
def test_a_single_call_of_isl_ends_when_its_seconds_are_spent() -> None:
    started = time.thread_time()
    assert with_budget(ANY_NUMBER, endless, seconds=0.02) is None
    assert time.thread_time() - started >= 0.02
    assert small() == 7, "isl works again"
    assert with_budget(ANY_NUMBER, small, seconds=100) == 7


@needs_clock
def test_the_seconds_of_an_outer_budget_end_inner_ones() -> None:
    tries = []

    def patient() -> None:
        while True:
            tries.append(with_budget(ANY_NUMBER, endless, seconds=0.02))
            small()   # raises once the outer budget is spent

    assert with_budget(ANY_NUMBER, patient, seconds=0.05) is None
    assert tries
    assert set(tries) == {None}
    assert with_budget(ANY_NUMBER, lambda: with_budget(ANY_NUMBER, endless, seconds=100), seconds=0.02) is None
    assert small() == 7


def test_a_part_of_a_value_is_no_value() -> None:
    """Where counting is broken off, isl gives no error but a count of the points so far, or no number."""
    points = isl.Set("{ [i, j] : 0 <= i < 99999 and 0 <= j < i and (i + j) mod 3 = 1 }")
    assert with_budget(1000, points.count_val) is None


@needs_clock
def test_a_child_process_has_a_clock_of_its_own() -> None:
    assert with_budget(ANY_NUMBER, endless, seconds=0.01) is None
    child = os.fork()
    if not child:
        os._exit(0 if isl_clock.clock() is not None and with_budget(ANY_NUMBER, endless, seconds=0.01) is None else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_words() -> None:
    assert in_words(1_000_000) == "1000000 isl operations or 2 s"
    assert in_words(7, 3.0) == "7 isl operations or 3 s"
