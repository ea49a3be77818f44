"""A signal stops isl in the middle of a call, so that Python's handler of the signal runs at once.

Python runs handlers between two of its own steps, and a call of isl is one step that may take long.  The moment a
signal comes, though, the interpreter writes a byte to a pipe, whatever the main thread does.  Here an asynchronous read
of the C library waits for that byte and calls `isl_ctx_abort`, from a thread that needs nothing of Python.  isl stops
at its next operation, and the handler raises what it raises.

Where isl's context is not found (`isl_clock`), or on another C library, handlers wait as they always did.

Source: Python, `signal.set_wakeup_fd`; POSIX.1-2017, aio_read, SIGEV_THREAD.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

from polysched.scop.isl_clock import Event, abort_event, library_and_context

_NOTICE_SECONDS = 0.2


class _Request(ctypes.Structure):
    """struct aiocb of 64-bit glibc, up to what the C library keeps at its end."""

    _fields_ = (("file", ctypes.c_int), ("operation", ctypes.c_int), ("priority", ctypes.c_int),
                ("buffer", ctypes.c_void_p), ("size", ctypes.c_size_t), ("event", Event), ("rest", ctypes.c_char * 256))


class _Watch:
    """One read of a pipe that stops isl when a byte comes."""

    def __init__(self, libc: ctypes.CDLL, event: Event) -> None:
        self._libc = libc
        self._reading, self.writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.writing, False)
        self._byte = ctypes.create_string_buffer(1)
        self._request = _Request(file=self._reading, buffer=ctypes.addressof(self._byte), size=1, event=event)
        self.process = os.getpid()
        self.works = libc.aio_read(ctypes.byref(self._request)) == 0

    @property
    def is_over(self) -> bool:
        """Whether a byte has come."""
        return int(self._libc.aio_error(ctypes.byref(self._request))) != errno.EINPROGRESS


_KEPT: list[_Watch] = []
"""The last is in use.  None is ever freed: the C library still writes to one that waits."""


@contextmanager
def signals_stop_isl() -> Iterator[None]:
    """Signals whose handlers raise an exception end calls of isl in the block; in the main thread only."""
    watch = _watch() if threading.current_thread() is threading.main_thread() else None
    if watch is None:
        yield
        return
    before = signal.set_wakeup_fd(watch.writing, warn_on_full_buffer=False)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        _await_end(watch)
        raise
    finally:
        signal.set_wakeup_fd(before)
        if watch.is_over:
            isl.DEFAULT_CONTEXT.resume()


def _watch() -> _Watch | None:
    """A read that waits: the one of the last time where no signal came."""
    if _KEPT and _KEPT[-1].process == os.getpid() and not _KEPT[-1].is_over:
        return _KEPT[-1]
    found = library_and_context() if sys.platform.startswith("linux") and sys.maxsize > 2**32 else None
    libc = ctypes.CDLL(None)
    if found is None or not hasattr(libc, "aio_read") or not hasattr(libc, "gnu_get_libc_version"):
        return None
    watch = _Watch(libc, abort_event(*found))
    _KEPT.append(watch)
    return watch if watch.works else None


def _await_end(watch: _Watch) -> None:
    """Wait until isl has been told, if a signal came, so that nothing of it reaches later computations."""
    until = time.monotonic() + _NOTICE_SECONDS
    while not watch.is_over and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(0.005)   # between the end of the read and the call lies the start of a thread
