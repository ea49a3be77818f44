"""A limit in processor seconds on what runs inside isl, which itself only counts operations.

An operation of isl is one request for memory; between two of them lie a third of a microsecond or forty.  isl stops
at the next operation once `isl_ctx_abort` was called, but while a call of isl runs no Python does.  So a POSIX timer
on this thread's processor time makes that call, from a thread of the C library.

It needs the address of isl's context, which islpy does not give.  It is looked for where nanobind keeps it in the
Python object, and taken only when isl's own function reads back, at that address, what islpy has just stored there.
Where any of this is missing (no Linux, another islpy) there is no clock, and budgets are counts of operations only.

Source: isl manual, "Initialization" (isl_ctx_abort, isl_ctx_resume); POSIX.1-2017, timer_create, SIGEV_THREAD.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time

import islpy as isl

_THREAD_CPU_CLOCK = 3   # CLOCK_THREAD_CPUTIME_ID of Linux
SIGEV_THREAD = 2
_OFFSET_FIELD = 16      # of nanobind's instances: behind the head of every Python object
_CONTEXT_BYTES = 256    # of isl's context that have to be readable before isl is asked about it
_MAGIC = (7_650_321, 1_234_577)
_NOTICE_SECONDS = 1.0


class Event(ctypes.Structure):
    """struct sigevent, with room for what the C library keeps behind it."""

    _fields_ = (("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int),
                ("function", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("rest", ctypes.c_char * 64))


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Setting(ctypes.Structure):
    _fields_ = (("interval", _Time), ("value", _Time))


def abort_event(library: ctypes.CDLL, context: int) -> Event:
    """An event of the C library that stops isl, from a thread that needs nothing of Python."""
    return Event(value=context, notify=SIGEV_THREAD, function=ctypes.cast(library.isl_ctx_abort, ctypes.c_void_p).value)


class Clock:
    """Tells isl to abort once this thread has used so much more processor time.  One at a time is set."""

    def __init__(self, library: ctypes.CDLL, context: int) -> None:
        self._libc = ctypes.CDLL(None)
        self._timer = ctypes.c_void_p()
        event = abort_event(library, context)
        self.works = self._libc.timer_create(_THREAD_CPU_CLOCK, ctypes.byref(event), ctypes.byref(self._timer)) == 0
        self._is_set = False

    def set(self, seconds: float) -> None:
        """Let isl abort after so many seconds; never for 0.

        Where the time that was set before has run out, isl has been told when this returns, so that no word of it
        comes later, into another budget.
        """
        new, old = _Setting(), _Setting()
        whole = int(seconds)
        new.value.seconds, new.value.nanoseconds = whole, int((seconds - whole) * 1e9)
        self._libc.timer_settime(self._timer, 0, ctypes.byref(new), ctypes.byref(old))
        if self._is_set and not (old.value.seconds or old.value.nanoseconds):
            _await_abort()
        self._is_set = seconds > 0


class _Own(threading.local):
    """The clock of each thread, and the process that made it: a child of a fork has no timers."""

    clock: Clock | None = None
    process: int = 0


_OWN = _Own()


def clock() -> Clock | None:
    """This thread's clock; None where there is none."""
    if _OWN.process != os.getpid():
        _OWN.process, _OWN.clock = os.getpid(), _made()
    return _OWN.clock


def _made() -> Clock | None:
    if not sys.platform.startswith("linux") or sys.implementation.name != "cpython":
        return None
    found = library_and_context()
    made = Clock(*found) if found is not None else None
    return made if made is not None and made.works else None


def library_and_context() -> tuple[ctypes.CDLL, int] | None:
    """The library that isl's functions are in, and where its default context lies; None when that cannot be proved."""
    library = ctypes.CDLL(sys.modules[isl.Context.__module__].__file__)
    context = _address_of_context(library)
    return None if context is None else (library, context)


def _address_of_context(library: ctypes.CDLL) -> int | None:
    """Where isl's default context lies; None when that cannot be proved."""
    if not hasattr(library, "isl_ctx_abort") or not hasattr(library, "isl_ctx_get_max_operations"):
        return None
    place = id(isl.DEFAULT_CONTEXT)
    offset = ctypes.c_int32.from_address(place + _OFFSET_FIELD).value
    if not _OFFSET_FIELD < offset <= sys.getsizeof(isl.DEFAULT_CONTEXT) - ctypes.sizeof(ctypes.c_void_p):
        return None
    address = ctypes.c_void_p.from_address(place + offset).value
    if address is None or not _is_readable(address):
        return None
    read = library.isl_ctx_get_max_operations
    read.argtypes, read.restype = [ctypes.c_void_p], ctypes.c_ulong
    before = isl.DEFAULT_CONTEXT.get_max_operations()
    try:
        for magic in _MAGIC:
            isl.DEFAULT_CONTEXT.set_max_operations(magic)
            if read(address) != magic:
                return None
    finally:
        isl.DEFAULT_CONTEXT.set_max_operations(before)
    return address


def _is_readable(address: int) -> bool:
    """Whether memory can be read there, asked in a way that no answer can crash."""
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY)
    except OSError:
        return False
    try:
        return len(os.pread(memory, _CONTEXT_BYTES, address)) == _CONTEXT_BYTES
    except (OSError, OverflowError):
        return False
    finally:
        os.close(memory)


def _await_abort() -> None:
    """Wait until isl knows that it has to stop: the thread that tells it may be a little late."""
    until = time.monotonic() + _NOTICE_SECONDS
    while not isl.DEFAULT_CONTEXT.aborted() and time.monotonic() < until:
        time.sleep(0.0002)
