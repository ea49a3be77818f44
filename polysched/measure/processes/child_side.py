"""What every isolated child does first: take its request, limit itself, and open the pipe for its reports.

This file and what it imports load quickly: a child starts for every measurement.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
BYTES_PER_THREAD = 80 << 20  # a stack and an allocator arena, address space only
LARGEST_FILE_BYTES = 64 << 20
GRACE_SECONDS = 10


class Reporter:
    """Write reports for the parent, one JSON object a line."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self._pipe = os.fdopen(fd, "w", encoding="utf-8")

    def report(self, **values: Any) -> None:
        """Send one report; the parent's wall clock restarts."""
        self._pipe.write(json.dumps(values) + "\n")
        self._pipe.flush()

    def phase(self, doing: str) -> None:
        """Say what comes next, in words that follow "while it was"."""
        self.report(phase=doing)


def start(arguments: list[str]) -> tuple[dict[str, Any], Reporter]:
    """The request and the reporter of this child, with its limits in force.

    Parameters
    ----------
    arguments : the command line, `[program, request file, report file descriptor]`.
    """
    request: dict[str, Any] = json.loads(Path(arguments[1]).read_text())
    reporter = Reporter(int(arguments[2]))
    limit_this_process(**request["limits"])
    if sys.platform == "linux" and os.getppid() != os.getpgrp():
        os._exit(1)   # the launcher, which leads the group, was killed before this process asked to die with it
    return request, reporter


def serve(work: Callable[[dict[str, Any], Reporter], None], arguments: list[str]) -> None:
    """Do the work of this child, and say how it ended: finished, or out of memory.

    It leaves at once where it finished: what a measured library does when it is unloaded is nobody's concern.
    """
    request, reporter = start(arguments)
    try:
        work(request, reporter)
    except MemoryError:
        reporter.report(end="memory")
        return
    reporter.report(end="finished")
    sys.stderr.flush()
    os._exit(0)


def limit_this_process(*, memory_bytes: int, cpu_seconds: int, file_bytes: int = LARGEST_FILE_BYTES) -> None:
    """Limit memory (beyond what is mapped now), CPU time and files, and die with the parent (prctl(2), Linux only)."""
    threads = _threads(os.environ.get("OMP_NUM_THREADS", "")) or os.cpu_count() or 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_AS, _mapped_bytes() + memory_bytes + threads * BYTES_PER_THREAD)
    _lower(resource.RLIMIT_CPU, cpu_seconds, grace=GRACE_SECONDS)
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _, hard_stack = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (hard_stack, hard_stack))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _threads(value: str) -> int:
    """The threads that a value of OMP_NUM_THREADS asks for, over all levels (`4,2`); 0 where it is none."""
    levels = value.split(",")
    return math.prod(map(int, levels)) if all(level.strip().isdecimal() for level in levels) else 0


def _lower(limit: int, value: int, *, grace: int = 0) -> None:
    """Lower a limit; `grace` leaves the hard limit above it, so that the soft one ends the process by its signal."""
    _, hard = resource.getrlimit(limit)
    ceiling = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
    resource.setrlimit(limit, (min(value, ceiling), ceiling))


def _mapped_bytes() -> int:
    """The address space that this process has mapped."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return 1 << 30
    return pages * resource.getpagesize()
