"""The OpenMP variables of a measured process, and the processors that it is bound to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from polysched.errors import UsageError


def thread_environment(threads: int, *, pin: bool) -> dict[str, str]:
    """The OpenMP variables of a measured process."""
    values = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    return values | ({"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if pin else {})


def usable_processors() -> tuple[int, ...]:
    """The numbers of the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def pinned_processors(threads: int) -> tuple[int, ...]:
    """Those that so many threads are bound to, one each as far as there are enough.

    Raises
    ------
    UsageError : this system binds no process.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise UsageError("this system cannot bind threads to cores", hint="leave out --pin")
    return usable_processors()[:threads]


@contextmanager
def bound_to(processors: tuple[int, ...]) -> Iterator[None]:
    """Start processes that are bound to these from their first instruction on; none: leave it as it is."""
    before = usable_processors()
    if processors:
        os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        if processors:
            os.sched_setaffinity(0, before)
