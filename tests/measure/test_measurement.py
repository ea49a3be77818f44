"""The Measurement value: no time without verification, and shares of what the machine can do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.measure.measurement import Work
from tests.measure.test_results import MEASUREMENT
from tests.measure.test_summary import TIMED


def test_an_unverified_result_has_no_time() -> None:
    with pytest.raises(ValueError, match="an unverified result has no time"):
        replace(TIMED, verification=None)
    with pytest.raises(ValueError, match="an unverified result has no time"):
        replace(TIMED, failure="it crashed")


def test_what_was_reached_is_work_over_time() -> None:
    assert TIMED.timing is not None
    worked = replace(TIMED, work=Work(flop_count=1000, bytes_moved=8), peak_flop_per_second=1e5)
    reached = worked.flop_per_second
    assert reached == pytest.approx(1000 / TIMED.timing.transformed_seconds)
    assert worked.share_of_peak == pytest.approx(reached / 1e5)
    assert replace(worked, peak_flop_per_second=None).share_of_peak is None
    assert replace(worked, work=None).flop_per_second is None
    assert replace(MEASUREMENT, timing=None).flop_per_second is None


def test_one_line() -> None:
    assert TIMED.headline().startswith("f, n=3: ")
    assert TIMED.headline().endswith("times as fast as the original")
    failed = replace(TIMED, timing=None, failure="it crashed")
    assert failed.headline() == "f, n=3: it crashed"
    assert not failed.verified
    assert replace(TIMED, timing=None, verification=None).headline() == "f, n=3: not verified"
    assert len(repr(TIMED)) <= 300


def test_a_verification_passes_without_a_difference_or_a_problem() -> None:
    made = TIMED.verification
    assert made is not None
    assert made.passed
    assert not replace(made, problem="nothing changes").passed
    different = replace(made.arrays[0], mismatches=3, largest_absolute=0.5, largest_relative=0.25)
    wrong = replace(made, arrays=(*made.arrays, different))
    assert not wrong.passed
    assert wrong.mismatches == 3 + made.mismatches
    assert wrong.worst == different
    assert (wrong.largest_absolute, wrong.largest_relative) >= (0.5, 0.25)
    empty = replace(made, arrays=())
    assert (empty.worst, empty.largest_absolute) == (None, 0.0)
