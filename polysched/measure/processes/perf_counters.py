"""Performance counters of this process and its threads, where the system lets them be read.

Uses perf_event_open(2) directly.  A counter that the machine or the system refuses is left out; in virtual
machines that is often every one of the hardware's.  The kernel's own (page faults, context switches, migrations)
exist everywhere; those of events inside the kernel need the right to count there (`perf_event_paranoid` below 2, or
the capability), and are left out without it, for they would always say 0.  So is a counter that had to share its
register with others and did not run all the time (several profilers, more events than registers, cores of two kinds):
what it says would be an estimate.

Source: perf_event_open(2), and <linux/perf_event.h>, with which a test compares the layout.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Mapping
from types import MappingProxyType

SYSCALL_NUMBER = {"x86_64": 298, "aarch64": 241, "riscv64": 241}
HARDWARE, SOFTWARE = 0, 1
INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
ATTRIBUTE_BYTES = 112   # PERF_ATTR_SIZE_VER5: of Linux 4.1, and known to every later one
TIME_ENABLED, TIME_RUNNING = 1 << 0, 1 << 1
READING = struct.Struct("=QQQ")   # count, nanoseconds enabled, nanoseconds running

EVENTS: Mapping[str, tuple[int, int]] = MappingProxyType({
    "cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "cache_references": (HARDWARE, 2),
    "cache_misses": (HARDWARE, 3), "branch_misses": (HARDWARE, 5),
    "task_clock_ns": (SOFTWARE, 1), "page_faults": (SOFTWARE, 2), "context_switches": (SOFTWARE, 3),
    "cpu_migrations": (SOFTWARE, 4)})
"""Generic events of perf_event_open(2), by the names that results use."""
IN_THE_KERNEL = frozenset({(SOFTWARE, 3), (SOFTWARE, 4)})
"""Events that happen inside the kernel whatever program they happen to."""


class PerfCounters:
    """Counters that run from now on, over all threads that this process starts later."""

    def __init__(self, events: Mapping[str, tuple[int, int]] = EVENTS) -> None:
        self._descriptors = {name: fd for name, (kind, config) in events.items()
                             if (fd := _open(kind, config)) is not None}

    def read(self) -> dict[str, int]:
        """The counts so far, by event; empty where none can be read."""
        found = {name: READING.unpack(os.read(fd, READING.size)) for name, fd in self._descriptors.items()}
        return {name: count for name, (count, enabled, running) in found.items() if running == enabled}

    def close(self) -> None:
        """Stop counting."""
        for fd in self._descriptors.values():
            os.close(fd)
        self._descriptors = {}


def counted(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What happened between two readings, of the counters that ran all the time."""
    return {name: after[name] - count for name, count in before.items() if name in after}


def flags_of(kind: int, config: int) -> int:
    """The bits behind `read_format` in `struct perf_event_attr`: what is counted, and where."""
    return INHERIT | EXCLUDE_HYPERVISOR | (0 if (kind, config) in IN_THE_KERNEL else EXCLUDE_KERNEL)


def attribute_of(kind: int, config: int) -> bytes:
    """A `struct perf_event_attr` that starts counting at once: type, size, config, no sampling, what is read, flags."""
    return struct.pack("=IIQQQQQ", kind, ATTRIBUTE_BYTES, config, 0, 0, TIME_ENABLED | TIME_RUNNING,
                       flags_of(kind, config)).ljust(ATTRIBUTE_BYTES, b"\0")


def specification(events: Mapping[str, tuple[int, int]] = EVENTS) -> str:
    """The events for a program in C that counts for itself: `NAME:TYPE:CONFIG:FLAGS`, decimal, blanks between."""
    return " ".join(f"{name}:{kind}:{config}:{flags_of(kind, config)}" for name, (kind, config) in events.items())


def _open(kind: int, config: int) -> int | None:
    """The descriptor of one counter; None when it is refused."""
    number = SYSCALL_NUMBER.get(platform.machine())
    if number is None or platform.system() != "Linux":
        return None
    attribute = attribute_of(kind, config)
    libc = ctypes.CDLL(None, use_errno=True)
    this_process, any_cpu, no_group, no_flags = 0, -1, -1, 0
    fd = libc.syscall(ctypes.c_long(number), ctypes.c_char_p(attribute), ctypes.c_int(this_process),
                      ctypes.c_int(any_cpu), ctypes.c_int(no_group), ctypes.c_ulong(no_flags))
    return int(fd) if fd >= 0 else None
