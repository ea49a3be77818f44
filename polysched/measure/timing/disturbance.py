"""Whether other programs disturbed a call, by what Linux counts.

With a core for each thread of the measured process, a thread of the machine that waits for one says so.  With more
threads than cores its own threads wait, too: then other programs show as threads that are ready beside its own, or as
time of the cores that it did not get while threads waited.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Protocol

from polysched.measure.processes.threads import usable_processors

DISTURBED_SHARE = 0.1
"""Of a call, in which some thread of the machine waits for a core, by which it is no sample of the version alone."""
PRESSURE = "/proc/pressure/cpu"
LOAD = "/proc/loadavg"
THREADS = "/proc/self/task"


class Watch(Protocol):
    """Looks at the machine in front of a call and behind it."""

    def begin(self) -> None:
        """A call follows."""

    def undisturbed(self, call: Mapping[str, Any]) -> bool:
        """Whether no other program disturbed the call since, by its `wall_seconds` and `process_cpu_seconds`."""


class Pressure:
    """How long threads of the machine have waited for a core, as Linux counts it; nothing where it does not.

    Source: Linux, Documentation/accounting/psi.rst: `some ... total=` in microseconds.
    """

    def __init__(self, path: str = PRESSURE) -> None:
        self._file = _opened(path)

    def waited(self) -> float:
        """Seconds in which one thread at least waited, since the start of the machine."""
        found = _TOTAL.search(_read(self._file))
        return int(found[1]) * 1e-6 if found else 0.0


class Waiting:
    """A call is disturbed while which some thread waited: for processes with a core for each of their threads."""

    def __init__(self, pressure: Pressure) -> None:
        self._pressure, self._before = pressure, 0.0

    def begin(self) -> None:
        """Remember what was waited so far."""
        self._before = self._pressure.waited()

    def undisturbed(self, call: Mapping[str, Any]) -> bool:
        """Whether threads waited for a small share of the call at most."""
        waited = self._pressure.waited() - self._before
        return bool(waited <= DISTURBED_SHARE * call["wall_seconds"])


class Crowd:
    """Threads that are ready to run, of this process and of others.

    Source: Linux, proc_loadavg(5): the number of runnable kernel scheduling entities; proc_pid_stat(5): the state.
    """

    def __init__(self, load: str = LOAD, threads: str = THREADS) -> None:
        self._load, self._threads = _opened(load), threads

    def others(self) -> int:
        """How many threads of other programs are ready or run; 0 where the system does not say."""
        found = _READY.search(_read(self._load))
        return 0 if found is None else max(0, int(found[1]) - self._own())

    def _own(self) -> int:
        try:
            return sum(_is_ready(f"{self._threads}/{thread}/stat") for thread in os.listdir(self._threads))
        except OSError:
            return 1


class Sharing:
    """For processes with more threads than cores, whose own threads wait for each other.

    While threads wait, every core is busy: what the process did not get then, others had.

    Parameters
    ----------
    cores : that the process may use.
    spare : further cores of the machine, on which others do not disturb it.
    """

    def __init__(self, pressure: Pressure, crowd: Crowd, *, cores: int, spare: int = 0) -> None:
        self._pressure, self._crowd, self._cores, self._spare = pressure, crowd, cores, spare
        self._before, self._others = 0.0, 0

    def begin(self) -> None:
        """Look for others, and remember what was waited so far."""
        self._others = self._crowd.others()
        self._before = self._pressure.waited()

    def undisturbed(self, call: Mapping[str, Any]) -> bool:
        """Whether no others are there on both sides of the call, and none had a share of the cores within."""
        waited = self._pressure.waited() - self._before
        taken = self._cores * min(waited, call["wall_seconds"]) - call["process_cpu_seconds"]
        there = min(self._others, self._crowd.others()) > self._spare
        return not there and bool(taken <= DISTURBED_SHARE * call["wall_seconds"])


def watch(*, shares_cores: bool) -> Watch:
    """What looks at this process: whose threads share cores, or have one each."""
    if not shares_cores:
        return Waiting(Pressure())
    cores = len(usable_processors())
    return Sharing(Pressure(), Crowd(), cores=cores, spare=max(0, (os.cpu_count() or 1) - cores))


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:
        return None


def _read(file: int | None) -> bytes:
    """The start of a file that the system makes anew at each read; nothing where there is none."""
    if file is None:
        return b""
    try:
        return os.pread(file, 256, 0)
    except OSError:   # it is there, and turned off
        return b""


def _is_ready(path: str) -> bool:
    """Whether a thread is ready or runs, by its line of state; one that just ended is not."""
    try:
        with open(path, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


_TOTAL = re.compile(rb"some [^\n]*total=(\d+)")
_READY = re.compile(rb" (\d+)/\d+ ")
