"""Variables of OpenMP for measured processes, and processors that these are bound to."""

from __future__ import annotations

import os

import pytest

from polysched.errors import UsageError
from polysched.measure.processes import threads
from polysched.measure.processes.threads import bound_to, pinned_processors, thread_environment, usable_processors


def test_variables() -> None:
    assert thread_environment(3, pin=False) == {"OMP_NUM_THREADS": "3", "OMP_DYNAMIC": "false"}
    assert thread_environment(3, pin=True)["OMP_PROC_BIND"] == "close"


def test_threads_are_bound_to_one_processor_each_as_far_as_there_are_enough() -> None:
    usable = usable_processors()
    assert pinned_processors(1) == usable[:1]
    assert pinned_processors(10_000) == usable


def test_a_system_that_binds_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(threads.os, "sched_setaffinity")
    with pytest.raises(UsageError, match="cannot bind") as refused:
        pinned_processors(1)
    assert "--pin" in refused.value.hint


def test_without_a_list_all_processors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(threads.os, "sched_getaffinity")
    assert usable_processors() == tuple(range(os.cpu_count() or 1))


def test_binding_ends_with_the_block() -> None:
    before = os.sched_getaffinity(0)
    one = usable_processors()[:1]
    with bound_to(one):
        assert os.sched_getaffinity(0) == set(one)
    assert os.sched_getaffinity(0) == before
    with bound_to(()):
        assert os.sched_getaffinity(0) == before
