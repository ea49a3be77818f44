"""Signals end calls of isl inside the block; behind it isl works again, and the wake-up descriptor is the old one."""

import os
import signal
import threading
from collections.abc import Iterator

import islpy as isl
import pytest

from polysched.scop import isl_clock
from polysched.scop.isl_interrupt import signals_stop_isl

needs_context = pytest.mark.skipif(isl_clock.library_and_context() is None, reason="another layout of islpy")


@pytest.fixture
def alarm() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def interrupted() -> None:
    """A count that takes hours, which a signal ends; isl holds Python's lock until then."""
    with signals_stop_isl():
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        isl.Set("{ [i, j, k, l] : 0 <= l < k < j < i < 9999 and (i + l) mod 7 = 3 }").count_val()


def small() -> int:
    return int(isl.Set("{ [i] : 0 <= i < 7 }").count_val().to_python())


@needs_context
@pytest.mark.usefixtures("alarm")
def test_each_signal_ends_a_call_of_isl_and_isl_works_again() -> None:
    for _ in range(2):
        with pytest.raises((KeyboardInterrupt, isl.Error)):
            interrupted()
        assert small() == 7


def test_the_descriptor_for_signals_is_put_back() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    try:
        with signals_stop_isl():
            assert small() == 7
        with pytest.raises(SystemExit), signals_stop_isl():
            raise SystemExit
    finally:
        put_back = signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
    assert put_back == writing


def test_another_thread_leaves_signals_alone() -> None:
    found = []

    def work() -> None:
        with signals_stop_isl():   # set_wakeup_fd would raise a ValueError here
            found.append(small())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [7]
