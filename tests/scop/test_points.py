"""Points of sets, and what happens to a signal while isl enumerates them."""

from __future__ import annotations

import signal
from types import FrameType

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scop.points import fix_parameters, isl_value, points_of, value_at, with_sizes


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
        raise Interrupted

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.02)
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
