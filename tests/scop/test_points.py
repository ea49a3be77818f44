"""Points of sets, and what happens to a signal while isl enumerates them."""

from __future__ import annotations

import signal
from types import FrameType

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scop.points import fix_parameters, isl_value, points_of


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
            points_of(isl.Set("{ S[i, j] : 0 <= i, j < 300 }"))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
