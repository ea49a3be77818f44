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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polysched.experiment.folders import load_module
from polysched.measure.child_side import PR_SET_PDEATHSIG


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """A variant that is ready to run.

    Parameters
    ----------
    call : the work that is timed.
    restore : put the inputs back; runs before every call, untimed.
    results : what the last call computed, by name; the same names and types for all variants of a workload.
    note : versions, chosen tiles and the like, in one line.
    """

    call: Callable[[], Any]
    results: Callable[[], Mapping[str, npt.NDArray[Any]]]
    restore: Callable[[], Any] = lambda: None
    note: str = ""


def program(file: Path, factory: str, parameters: Mapping[str, Any], folder: Path, name: str) -> tuple[str, ...]:
    """The command that runs an entry as a contestant.

    Parameters
    ----------
    folder : a private one, for the parameters.
    """
    request = folder / f"{name.replace('/', '_').replace(' ', '_')}.json"
    request.write_text(json.dumps(dict(parameters)))
    return (sys.executable, "-m", "polysched.experiment.contestant", str(file), factory, str(request))


def timed(entry: Entry) -> str:
    """Call once; the line that reports it."""
    entry.restore()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    process, thread = time.process_time(), time.thread_time()
    started = time.perf_counter()
    entry.call()
    wall = time.perf_counter() - started
    thread, process = time.thread_time() - thread, time.process_time() - process
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
    return f"sample {wall!r} {thread!r} {process!r} {switches}\n"


def main() -> None:
    """Answer until the timer goes away."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)   # what libraries print is no answer
    file, factory, request = sys.argv[1:]
    entry: Entry = getattr(load_module(Path(file)), factory)(json.loads(Path(request).read_text()))
    answers.write(f"ready {entry.note}\n")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "run":
            for _ in range(int(words[1])):
                entry.restore()
                entry.call()
            answers.write("".join([timed(entry) for _ in range(int(words[2]))]))
        else:
            arrays: dict[str, Any] = dict(entry.results())
            with open(line.split(maxsplit=1)[1].strip(), "wb") as output:
                np.savez(output, **arrays)
        answers.write("done\n")


if __name__ == "__main__":
    main()
