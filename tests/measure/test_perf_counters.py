"""Performance counters: software events are always there, hardware events only where the system allows."""

import platform
import threading

import numpy as np
import pytest

from polysched.measure.perf_counters import EVENTS, SOFTWARE, PerfCounters

TASK_CLOCK = (SOFTWARE, 1)
needs_linux = pytest.mark.skipif(platform.system() != "Linux", reason="perf_event_open is Linux's")


def work() -> None:
    for _ in range(20):
        np.sort(np.random.default_rng(1).random(100_000))


@needs_linux
def test_a_counter_counts_this_thread_and_later_ones() -> None:
    counters = PerfCounters({"task_clock": TASK_CLOCK})
    if not counters.read():
        pytest.skip("the system lets no counter be read")
    before = counters.read()["task_clock"]
    work()
    alone = counters.read()["task_clock"] - before
    assert alone > 1_000_000
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counters.read()["task_clock"] - before > 1.3 * alone
    counters.close()
    assert counters.read() == {}


def test_events_that_do_not_exist_are_left_out() -> None:
    assert PerfCounters({"nonsense": (99, 99)}).read() == {}


def test_hardware_events_are_counts_or_absent() -> None:
    counters = PerfCounters()
    assert set(counters.read()) <= set(EVENTS)
    assert all(count >= 0 for count in counters.read().values())
    counters.close()
