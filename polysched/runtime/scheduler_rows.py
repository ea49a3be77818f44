"""What the scheduler's C takes and tells, as Python has it; a process for isolated jobs needs no more."""

from __future__ import annotations

import ctypes

from polysched.runtime.limits import LIMITS

RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int),
                       ctypes.POINTER(ctypes.c_long))
"""`run(arguments, stop, done)`: 1 where the flag stopped it, 0 at its end, 2 where it failed."""

SERVE = "polysched_serve"
"""The name of the scheduler's function."""


class JobRow(ctypes.Structure):
    """`struct job`."""

    _fields_ = [("run", RUN), ("arguments", ctypes.POINTER(ctypes.c_void_p)),
                *((n, ctypes.c_long) for n in ("real_time", "requests")),
                *((n, ctypes.c_double) for n in ("first", "period")), ("resettable", ctypes.c_long),
                ("tile_seconds", ctypes.c_double), ("beside", ctypes.c_long),
                *((n, ctypes.POINTER(ctypes.c_double)) for n in ("latency", "waiting")),
                *((n, ctypes.c_long) for n in ("runs", "stops", "failed", "resets")), ("seconds", ctypes.c_double),
                *((n, ctypes.c_long) for n in ("released", "taken", "done", "in_a_row")),
                ("last_yields", ctypes.c_double * LIMITS.last_yields), ("yielded", ctypes.c_long),
                *((n, ctypes.c_size_t) for n in ("code", "code_end"))]


class Options(ctypes.Structure):
    """`struct options`."""

    _fields_ = [*((n, ctypes.c_long) for n in ("workers", "preempt", "all_beside", "fifo", "most_yields", "reset",
                                               "most_in_a_row", "tell_crashes")),
                *((n, ctypes.c_double) for n in ("reset_seconds", "rest_share", "rest_every"))]


class Told(ctypes.Structure):
    """`struct told`."""

    _fields_ = [("yields", ctypes.POINTER(ctypes.c_double)), ("yield_count", ctypes.c_long), ("fifo", ctypes.c_long),
                ("seconds", ctypes.c_double), ("stop", ctypes.c_int), ("crashed", ctypes.c_long)]
