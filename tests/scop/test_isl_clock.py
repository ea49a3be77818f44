"""The clock tells isl to stop, once, in this thread's own processor time, and finds isl's context or has none."""

import ctypes
import threading
import time

import islpy as isl
import pytest

from polysched.scop import isl_clock

needs_clock = pytest.mark.skipif(isl_clock.clock() is None, reason="no POSIX timers, or another layout of islpy")


def spend(seconds: float) -> None:
    started = time.thread_time()
    while time.thread_time() - started < seconds:
        pass


@needs_clock
def test_isl_is_told_behind_the_seconds_and_not_before() -> None:
    own = isl_clock.clock()
    assert own is not None
    own.set(1000)
    spend(0.01)
    own.set(0)
    assert not isl.DEFAULT_CONTEXT.aborted()
    own.set(0.002)
    spend(0.02)
    own.set(0)
    assert isl.DEFAULT_CONTEXT.aborted(), "no word of it comes later"
    isl.DEFAULT_CONTEXT.resume()
    spend(0.01)
    assert not isl.DEFAULT_CONTEXT.aborted()


@needs_clock
def test_each_thread_has_one_clock() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.extend([isl_clock.clock(), isl_clock.clock()]))
    thread.start()
    thread.join()
    assert found[0] is found[1]
    assert isl_clock.clock() is isl_clock.clock()
    assert found[0] is not isl_clock.clock()


@needs_clock
def test_the_search_for_the_context_changes_nothing_of_it() -> None:
    before = isl.DEFAULT_CONTEXT.get_max_operations()
    assert isl_clock.library_and_context() is not None
    assert isl.DEFAULT_CONTEXT.get_max_operations() == before


def test_addresses_that_cannot_be_read_are_told() -> None:
    memory = ctypes.create_string_buffer(4096)
    assert isl_clock._is_readable(ctypes.addressof(memory))
    for address in (0, 8, 2**64 - 4096, 2**70):
        assert not isl_clock._is_readable(address)
