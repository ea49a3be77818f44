"""Jobs in a process of their own: one that crashes ends that process, and is told by its name.

The arrays of all jobs are copied to memory that both processes have, and back when everything is done.  A crash leaves
those of the caller as they were.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import RunFailedError
from polysched.measure.timing.machine import available_memory
from polysched.records import dataclass
from polysched.runtime.scheduler_rows import JobRow, Options, Told

CHILD = "polysched.runtime.isolated_child"
ALIGNED = 64
"""Bytes: of a line of every cache, and of the widest vector."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Apart:
    """A job for another process.

    Parameters
    ----------
    name : of the job.
    machine_code : its shared object.
    entry : the name of its function.
    arrays : what it takes, in order.
    written : whether it writes each.
    row : what the scheduler is told of it, but for addresses.
    times : latencies and waits, which are filled.
    """

    name: str
    machine_code: bytes
    entry: str
    arrays: Sequence[np.ndarray]
    written: Sequence[bool]
    row: JobRow
    times: np.ndarray


class _Memory:
    """Memory that two processes have, given out piece by piece."""

    def __init__(self, pieces: Sequence[int]) -> None:
        self.offsets, self.bytes = [], 0
        for size in pieces:
            self.offsets.append(self.bytes)
            self.bytes += -(-max(size, 1) // ALIGNED) * ALIGNED
        if self.bytes > (free := available_memory()):
            raise _no_process(f"{self.bytes / 2**20:,.0f} MiB of copies, {free / 2**20:,.0f} MiB of memory free")
        self.file = os.memfd_create("polysched-serve")
        try:
            os.posix_fallocate(self.file, 0, self.bytes)   # what is not there is told here, and by no SIGBUS
            self.map = mmap.mmap(self.file, self.bytes)
        except BaseException:
            os.close(self.file)
            raise

    def array(self, at: int, like: np.ndarray) -> np.ndarray:
        """A piece as an array."""
        return np.frombuffer(self.map, like.dtype, like.size, self.offsets[at]).reshape(like.shape)


def serve_apart(jobs: Sequence[Apart], scheduler: bytes, options: Options, yields: np.ndarray
                ) -> tuple[int, Sequence[JobRow], Told]:
    """What the scheduler returns in a process of its own, the rows of the jobs, and what else it told.

    An exception here, Ctrl-C for instance, has it begin nothing more, as in this process; the second one kills it.

    Raises
    ------
    RunFailedError : a job crashed, or the process ended in some other way, or there is no memory or no process for
        them; no array of the caller has changed. Behind an exception here that is its cause.
    """
    arrays = [array for job in jobs for array in (*job.arrays, job.times)]
    sizes = [ctypes.sizeof(JobRow) * len(jobs), ctypes.sizeof(Told), yields.nbytes, *(a.nbytes for a in arrays)]
    with _told():
        memory = _Memory(sizes)
    try:
        for at, array in enumerate(arrays, 3):
            memory.array(at, array)[...] = array
        rows = (JobRow * len(jobs)).from_buffer_copy(b"".join(bytes(job.row) for job in jobs))
        memory.map[:ctypes.sizeof(rows)] = bytes(rows)
        with ExitStack() as stack:
            with _told():
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="polysched-")))
                request = _request(jobs, scheduler, bytes(options), memory, folder)
            end = _waited_for(request, memory)
        found = tuple((JobRow * len(jobs)).from_buffer_copy(memory.map, 0))
        told = Told.from_buffer_copy(memory.map, memory.offsets[1])
        if not end.done:
            crash = _crash(jobs, found, told, end)
            if end.interruption is not None:   # who waits gets what was raised here
                raise end.interruption from crash
            raise crash
        _take(jobs, memory, yields)
        if end.interruption is not None:
            raise end.interruption
        return end.status, found, told
    finally:
        os.close(memory.file)


@contextmanager
def _told() -> Iterator[None]:
    """What the system refuses as an error of ours."""
    try:
        yield
    except OSError as error:
        raise _no_process(str(error)) from None


def _no_process(witness: str) -> RunFailedError:
    return RunFailedError("the jobs get no process of their own", witness=witness,
                          hint="fewer or smaller arrays, a higher limit of processes (ulimit -u), or isolated=False")


def _request(jobs: Sequence[Apart], scheduler: bytes, options: bytes, memory: _Memory, folder: Path
             ) -> dict[str, Any]:
    """What the process is asked; the machine code lies in a folder."""
    codes: dict[bytes, str] = {}
    for code in (scheduler, *(job.machine_code for job in jobs)):
        if code not in codes:
            path = folder / f"code{len(codes)}.so"
            path.write_bytes(code)
            codes[code] = str(path)
    offsets, rows = iter(memory.offsets[3:]), []
    for job in jobs:
        arguments, times = [next(offsets) for _ in job.arrays], next(offsets)
        rows.append({"library": codes[job.machine_code], "entry": job.entry, "arguments": arguments,
                     "latency": times, "waiting": times + job.times[0].nbytes})
    return {"memory": memory.file, "bytes": memory.bytes, "scheduler": codes[scheduler], "options": options,
            "rows": memory.offsets[0], "told": memory.offsets[1], "yields": memory.offsets[2], "jobs": rows,
            "parent": os.getpid()}


@dataclass(frozen=True, eq=False, kw_only=True)
class _End:
    """How the process ended: whether everything was done, its status, what it said, what interrupted this one."""

    done: bool
    status: int
    said: str
    interruption: BaseException | None = None


def _waited_for(request: Mapping[str, Any], memory: _Memory) -> _End:
    """Start the process, and wait until it ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    with _told():
        process = subprocess.Popen([sys.executable, "-m", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, pass_fds=(request["memory"],), env=environment,
                                   start_new_session=True)
    with process:
        interruption = None
        try:
            try:
                output, said = process.communicate(pickle.dumps(dict(request)))
            except BaseException as error:   # whatever Python raises here: the process yields, and ends
                interruption = error
                Told.from_buffer(memory.map, memory.offsets[1]).stop = 1
                if process.stdin is not None:   # nobody sends the rest of a request
                    process.stdin.close()
                    process.stdin = None
                output, said = process.communicate()
        except BaseException:
            process.kill()
            process.wait()   # which `with` does not behind a Ctrl-C
            raise
    return _End(done=output.endswith(b"done"), status=process.returncode, interruption=interruption,
                said=said.decode(errors="replace").strip())


def _take(jobs: Sequence[Apart], memory: _Memory, yields: np.ndarray) -> None:
    """Copy what was written to where the caller has it."""
    yields[...] = memory.array(2, yields)
    at = 3
    for job in jobs:
        for array, written in zip(job.arrays, job.written, strict=True):
            if written:
                array[...] = memory.array(at, array)
            at += 1
        job.times[...] = memory.array(at, job.times)
        at += 1


def _crash(jobs: Sequence[Apart], rows: Sequence[JobRow], told: Told, end: _End) -> RunFailedError:
    """Which job it was: as its thread said in the end, or all that ran then."""
    names = [jobs[told.crashed - 1].name] if told.crashed else [
        job.name for job, row in zip(jobs, rows, strict=True) if row.taken]
    where = f"job {', '.join(names)}" if names else "the process of the jobs"
    hint = "arrays are as they were before; `polysched run` tries a kernel on random arrays"
    if end.status >= 0:
        return RunFailedError("the process of the jobs ended before they were done", where=where,
                              witness=end.said[-500:] or f"exit status {end.status}", hint=hint)
    number = -end.status
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"   # real-time ones
    runs = ", ".join(f"{job.name} {row.runs}" for job, row in zip(jobs, rows, strict=True))
    return RunFailedError(f"a job crashed: {signal.strsignal(number)}", where=where,
                          witness=f"{name}; runs until then: {runs}", hint=hint)
