"""What the timing process says to a contestant, and what it answers.

One line of text each way over the standard streams; a contestant may be a C program or a Python process.

    contestant      built JSON                                       (the fields of `Build`; only if it compiled itself)
    contestant      ready NOTE
    timer           run WARM CALLS [SHARED PRIVATE PROCESSOR...]   (the numbers of `measure.timing.cold_cache.Flush`)
    contestant      warmup WALL THREAD_CPU PROCESS_CPU SWITCHES EVENT=COUNT...    (one line per call that warms up)
    contestant      sample WALL THREAD_CPU PROCESS_CPU SWITCHES EVENT=COUNT...    (one line per timed call, seconds)
    contestant      done
    timer           results PATH
    contestant      done                                             (after it wrote the arrays: `read_arrays`)

Inputs are restored before every call, outside of the time; then caches are flushed, if the timer says by how much.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from polysched.measure.measurement import Build
from polysched.measure.timing.cold_cache import Flush
from polysched.measure.timing.statistics import Sample

ERROR_KEPT_BYTES = 4096
END_SECONDS = 5.0   # for a process to end that has closed its output
NANO = 9  # digits of seconds; no clock here tells more


class EndedError(Exception):
    """The contestant ended before it answered."""


class SilentError(Exception):
    """The contestant did not answer in time, and was killed."""


class Conversation:
    """One contestant's process; it is stopped except while it answers.

    Parameters
    ----------
    flush : of the caches before every call; None leaves them warm.
    """

    def __init__(self, process: subprocess.Popen[bytes], flush: Flush | None = None) -> None:
        self._process = process
        self._flush = "" if flush is None else f" {flush}"
        self._errors = b""
        self._rest = b""
        self._stopped = False
        self.overhead_seconds = 0.0
        self.build: Build | None = None
        self.warmups: list[Sample] = []
        assert process.stdout is not None
        assert process.stderr is not None
        self._selector = selectors.DefaultSelector()
        for stream in (process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)

    def ready(self, *, limit_seconds: float) -> str:
        """Wait until it is loaded; what it says about itself."""
        deadline = time.monotonic() + limit_seconds
        word, _, note = self._line(deadline, limit_seconds).partition(" ")
        if word == "built":
            build = json.loads(note)
            self.build = Build(**build | {"flags": tuple(build["flags"])})
            word, _, note = self._line(deadline, limit_seconds).partition(" ")
        if word != "ready":
            raise EndedError(f"it said {word!r} instead of ready")
        self._stop()
        return note

    def run(self, *, warm: int, calls: int, limit_seconds: float) -> tuple[Sample, ...]:
        """Let it run; one sample per timed call."""
        started = time.monotonic()
        lines = self._ask(f"run {warm} {calls}{self._flush}", limit_seconds)
        warmups = [_sample(line, "warmup") for line in lines[:warm]]
        self.warmups += warmups
        samples = tuple(_sample(line, "sample") for line in lines[warm:])
        if len(samples) != calls:
            raise EndedError(f"it took {len(samples)} samples instead of {calls}")
        called = sum(sample.wall_seconds for sample in (*warmups, *samples))
        self.overhead_seconds = max(0.0, time.monotonic() - started - called)
        return samples

    def results(self, path: Path, *, limit_seconds: float) -> dict[str, np.ndarray]:
        """The arrays that a call computes, by name; most contestants show what the last call left."""
        self._ask(f"results {path}", limit_seconds)
        return read_arrays(path)

    def _ask(self, words: str, limit_seconds: float) -> list[str]:
        """Send a line, and collect the lines of the answer up to `done`."""
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        self._stopped = False
        try:
            self._process.stdin.write(words.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise EndedError(self._end()) from None
        lines: list[str] = []
        deadline = time.monotonic() + limit_seconds
        while (line := self._line(deadline, limit_seconds)) != "done":
            lines.append(line)
        self._stop()
        return lines

    def _stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)
        self._stopped = True

    def _line(self, deadline: float, limit_seconds: float) -> str:
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0:
                self._process.kill()   # or it would go on beside all that are timed after it
                raise SilentError(f"no answer within {limit_seconds:.0f} s")
            if not self._read(left):
                raise EndedError(self._end())
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def _read(self, timeout: float) -> bool:
        """Read what there is; whether the contestant can still answer."""
        for key, _ in self._selector.select(timeout):
            data = os.read(key.fd, 65536)
            if key.fileobj is self._process.stderr:
                self._errors = (self._errors + data)[-ERROR_KEPT_BYTES:]
                if not data:
                    self._selector.unregister(key.fileobj)
            elif not data:
                return False
            else:
                self._rest += data
        return True

    def _end(self) -> str:
        """How the contestant ended, with its last words."""
        try:
            code = self._process.wait(END_SECONDS)
            how = f"it crashed with {signal.Signals(-code).name}" if code < 0 else f"it ended with status {code}"
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            how = "it closed its output and went on"
        if self._process.stderr is not None:
            while data := self._process.stderr.read():
                self._errors = (self._errors + data)[-ERROR_KEPT_BYTES:]
        words = self._errors.decode(errors="replace").strip().splitlines()
        return f"{how}: {words[-1]}" if words else how


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file: NumPy's .npz, or `raw` and for every array a line `NAME TYPE ELEMENTS` and its bytes.

    Raises
    ------
    EndedError : the file is neither.
    """
    with path.open("rb") as file:
        magic = file.read(4)
        if magic == b"PK\x03\x04":
            with np.load(path) as stored:
                return {name: stored[name] for name in stored.files}
        if magic != b"raw\n":
            raise EndedError("its results are in no known form")
        arrays: dict[str, np.ndarray] = {}
        while line := file.readline():
            name, dtype, count = line.decode().split()
            arrays[name] = np.fromfile(file, dtype=dtype, count=int(count))
        return arrays


def _sample(line: str, expected: str) -> Sample:
    word, wall, thread, process, switches, *events = line.split()
    if word != expected:
        raise EndedError(f"it said {word!r} instead of {expected}")
    seconds = [round(float(value), NANO) for value in (wall, thread, process)]
    return Sample(wall_seconds=seconds[0], thread_cpu_seconds=seconds[1], process_cpu_seconds=seconds[2],
                  involuntary_switches=int(switches),
                  counters={name: int(count) for name, _, count in (event.partition("=") for event in events)})
