"""Performance counters of this process and its threads, where the system lets them be read.

Uses perf_event_open(2) directly.  A counter that the machine or the system refuses is left out; in virtual
machines that is often every one of the hardware's.  The kernel's own (page faults, context switches, migrations)
exist everywhere; those of events inside the kernel need the right to count there (`perf_event_paranoid` below 2, or
the capability), and are left out without it, for they would always say 0.
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
ATTRIBUTE_BYTES = 112

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
        return {name: int.from_bytes(os.read(fd, 8), "little") for name, fd in self._descriptors.items()}

    def close(self) -> None:
        """Stop counting."""
        for fd in self._descriptors.values():
            os.close(fd)
        self._descriptors = {}


def _open(kind: int, config: int) -> int | None:
    """The descriptor of one counter; None when it is refused."""
    number = SYSCALL_NUMBER.get(platform.machine())
    if number is None or platform.system() != "Linux":
        return None
    flags = INHERIT | EXCLUDE_HYPERVISOR | (0 if (kind, config) in IN_THE_KERNEL else EXCLUDE_KERNEL)
    attribute = struct.pack("=IIQQQQQ", kind, ATTRIBUTE_BYTES, config, 0, 0, 0, flags).ljust(ATTRIBUTE_BYTES, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    this_process, any_cpu, no_group, no_flags = 0, -1, -1, 0
    fd = libc.syscall(ctypes.c_long(number), ctypes.c_char_p(attribute), ctypes.c_int(this_process),
                      ctypes.c_int(any_cpu), ctypes.c_int(no_group), ctypes.c_ulong(no_flags))
    return int(fd) if fd >= 0 else None
