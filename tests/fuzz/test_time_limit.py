"""Limits of processor time on a block of Python: left by an exception that says where it was."""

from __future__ import annotations

import math
import signal
import threading
import time

import pytest

from polysched.fuzz.time_limit import OutOfTime, time_limit


def spin() -> None:
    while True:
        math.sqrt(2.0)


def test_a_block_that_takes_too_long_is_left() -> None:
    with pytest.raises(OutOfTime, match=r"not done after 0\.05 seconds; it was in spin \(fuzz/test_time_limit\.py"), \
            time_limit(0.05):
        spin()


def test_waiting_takes_no_processor_time() -> None:
    with time_limit(0.05):
        time.sleep(0.15)
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 0, "the limit still waits for processor time"


def test_what_was_set_before_is_set_again() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with time_limit(10):
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 0
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_errors_of_the_block_pass_and_end_the_limit() -> None:
    with pytest.raises(KeyError), time_limit(10):
        raise KeyError
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_there_is_none_without_an_end_or_in_another_thread() -> None:
    seen: list[tuple[float, float]] = []

    def limited() -> None:
        with time_limit(0.001):
            seen.append(signal.getitimer(signal.ITIMER_PROF))
    thread = threading.Thread(target=limited)
    thread.start()
    thread.join()
    with time_limit(math.inf):
        seen.append(signal.getitimer(signal.ITIMER_PROF))
    assert seen == [(0.0, 0.0)] * 2
