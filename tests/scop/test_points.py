"""Points of sets, and what happens to a signal while isl enumerates them."""

from __future__ import annotations

import signal
from types import FrameType

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scop.points import (
    fix_parameters,
    isl_value,
    nearest_parameters,
    parameters_of,
    points_of,
    value_at,
    with_sizes,
)


class Interrupted(Exception):
    """What the signal's handler raises."""


def test_all_points_of_a_triangle() -> None:
    triangle = isl.Set("{ S[i, j] : 0 <= i <= 2 and 0 <= j <= i }")
    assert sorted(points_of(triangle)) == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]


def test_an_unbounded_set_is_refused() -> None:
    with pytest.raises(UsageError):
        points_of(isl.Set("{ S[i] : i >= 0 }"))


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, 2**63, -2**63 - 1, 2**200])
def test_numbers_of_any_size(number: int) -> None:
    assert isl_value(number).to_python() == number
    near = isl.Set("[n] -> { S[i] : n - 1 <= i <= n }")
    assert points_of(fix_parameters(near, {"n": number})) == [(number - 1,), (number,)]


def test_what_a_signal_raises_is_not_lost_in_isl() -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code is not points_of.__code__:
            frame = frame.f_back
        if frame is not None:   # not once it is on its way
            raise Interrupted

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.02, 0.1)     # again: what a weak reference's callback raises is dropped
    try:
        with pytest.raises(Interrupted):
            points_of(isl.Set("{ S[i, j] : 0 <= i, j < 500 and (i + j) mod 2 = 0 }"))   # isl finds them
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def test_a_form_has_a_value_where_its_parameters_do() -> None:
    form = isl.PwAff("[n, m] -> { [(2n + 1)] : n < 10; [(m)] : n >= 12 }")
    assert [value_at(form, {"n": n, "m": 7}) for n in (3, 9, 11, 12)] == [7, 19, 0, 7]


def test_sizes_that_a_set_does_not_know_are_left_out() -> None:
    values = isl.Set("[n, m] -> { : n < m }")
    assert with_sizes(values, {"n": 3, "other": 5}).is_equal(isl.Set("[n, m] -> { : n = 3 and m > 3 }"))


IMAGE = isl.Set("[p, r, x, n] -> { : 0 <= r <= 1 - p + x and p >= 0 and n % 3 = 1 }")


@pytest.mark.parametrize(("fixed", "early", "wanted", "found"), [
    ([], ["p", "r"], (64, 64, 64, 64), (64, 64, 127, 64)),       # the image gives way to its windows
    ([], [], (64, 64, 64, 64), (64, 64, 127, 64)),               # in the order in which they are wanted
    ([], ["x"], (64, 64, 64, 64), (64, 1, 64, 64)),
    (["x"], ["p", "r"], (64, 64, 64, 64), (64, 1, 64, 64)),      # what is stated does not
    (["x", "p"], ["r"], (99, 64, 64, 64), None),
    ([], [], (9, 2, 30, 65), (9, 2, 30, 67))])                   # above first
def test_sizes_near_the_wanted_ones(fixed: list[str], early: list[str], wanted: tuple[int, ...],
                                    found: tuple[int, ...] | None) -> None:
    got = nearest_parameters(IMAGE, dict(zip("prxn", wanted, strict=True)), fixed, early)
    assert got == (None if found is None else dict(zip("prxn", found, strict=True)))


def test_parameters_that_no_constraint_mentions_are_left_out() -> None:
    assert parameters_of(isl.Set("[n, m, k] -> { S[i] : n <= i < k }")) == ["n", "k"]
