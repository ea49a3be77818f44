"""Performance counters: software events are always there, hardware events only where the system allows."""

import mmap
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


@needs_linux
def test_the_kernels_own_events_are_counted() -> None:
    counters = PerfCounters()
    before = counters.read()
    if "page_faults" not in before:
        pytest.skip("the system lets no counter be read")
    memory = mmap.mmap(-1, 64 * mmap.PAGESIZE)
    for page in range(64):
        memory[page * mmap.PAGESIZE] = 1
    after = counters.read()
    assert after["page_faults"] - before["page_faults"] >= 64, "each page of new memory faults once"
    assert after["task_clock_ns"] > before["task_clock_ns"]
    counters.close()


@needs_linux
def test_switches_are_counted_where_events_inside_the_kernel_may_be() -> None:
    counters = PerfCounters()
    before = counters.read()
    if "context_switches" not in before:
        pytest.skip("events inside the kernel may not be counted here: perf_event_paranoid")
    thread = threading.Event()
    for _ in range(5):
        thread.wait(0.001)
    assert counters.read()["context_switches"] - before["context_switches"] >= 5, "each wait gives the core away"
    counters.close()


def test_events_that_do_not_exist_are_left_out() -> None:
    assert PerfCounters({"nonsense": (99, 99)}).read() == {}


def test_hardware_events_are_counts_or_absent() -> None:
    counters = PerfCounters()
    assert set(counters.read()) <= set(EVENTS)
    assert all(count >= 0 for count in counters.read().values())
    counters.close()
