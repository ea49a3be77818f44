"""A contestant written in Python: load an entry, and answer the timer (protocol: `conversation.py`).

    python -m polysched.experiment.contestant FILE.py FACTORY PARAMETERS.json

FACTORY is a function of FILE.py that takes the parameters and returns an `Entry`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polysched.experiment.folders import load_module
from polysched.measure.measurement import Build
from polysched.measure.processes.child_side import PR_SET_PDEATHSIG
from polysched.measure.processes.perf_counters import PerfCounters, counted
from polysched.measure.timing.cold_cache import FlushMemory, flush_from
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """A variant that is ready to run.

    Parameters
    ----------
    call : the work that is timed.
    restore : put the inputs back; runs before every call, untimed.
    results : what a call computes, by name; the same names and types for all variants of a workload.
    note : versions, chosen tiles and the like, in one line.
    build : how it was compiled, where it was compiled here.
    """

    call: Callable[[], Any]
    results: Callable[[], Mapping[str, npt.NDArray[Any]]]
    restore: Callable[[], Any] = lambda: None
    note: str = ""
    build: Build | None = None


def program(file: Path, factory: str, parameters: Mapping[str, Any], folder: Path, name: str) -> tuple[str, ...]:
    """The command that runs an entry as a contestant.

    Parameters
    ----------
    folder : a private one, for the parameters.
    """
    request = folder / f"{name.replace('/', '_').replace(' ', '_')}.json"
    request.write_text(json.dumps(dict(parameters)))
    return (sys.executable, "-m", "polysched.experiment.contestant", str(file), factory, str(request))


def timed(entry: Entry, counters: PerfCounters, word: str, cold: FlushMemory | None = None) -> str:
    """Call once; the line that reports it."""
    entry.restore()
    if cold is not None:
        cold.walk()
    before = counters.read()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    process, thread = time.process_time(), time.thread_time()
    started = time.perf_counter()
    entry.call()
    wall = time.perf_counter() - started
    thread, process = time.thread_time() - thread, time.process_time() - process
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
    events = "".join(f" {name}={count}" for name, count in counted(before, counters.read()).items())
    return f"{word} {wall!r} {thread!r} {process!r} {switches}{events}\n"


def main() -> None:
    """Answer until the timer goes away."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)   # what libraries print is no answer
    file, factory, request = sys.argv[1:]
    counters = PerfCounters()   # before any library starts threads, which they count with this one
    entry: Entry = getattr(load_module(Path(file)), factory)(json.loads(Path(request).read_text()))
    if entry.build is not None:
        answers.write(f"built {json.dumps(asdict(entry.build))}\n")
    answers.write(f"ready {entry.note}\n")
    cold: FlushMemory | None = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "run":
            if cold is None and (flush := flush_from(words[3:])) is not None:
                cold = FlushMemory(flush)
            answers.write("".join([timed(entry, counters, word, cold) for word, count in zip(
                ("warmup", "sample"), words[1:3], strict=True) for _ in range(int(count))]))
        else:
            arrays: dict[str, Any] = dict(entry.results())
            with open(line.split(maxsplit=1)[1].strip(), "wb") as output:
                np.savez(output, **arrays)
        answers.write("done\n")


if __name__ == "__main__":
    main()
