"""The child process that calibrates: `python -m polysched.measure.timing.calibration_run REQUEST REPORTS`."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from polysched.measure.processes.child_side import Reporter, start
from polysched.measure.programs.inputs import allocate
from polysched.measure.timing.calibration_source import ADDITIONS
from polysched.measure.timing.peak_run import TRIAL_SECONDS
from polysched.measure.timing.peak_source import CHAINS

TRIALS = 15
ROW_LENGTHS = (67, 259)
"""Both leave a remainder of three; two rows of the longer one take a tenth of a first cache."""
BLOCK_BYTES = 1 << 18


def trials(run: Callable[[int], object], *, threads: int = 1) -> list[float]:
    """Seconds per repetition, of trials that take at least `TRIAL_SECONDS` each.

    What one thread does is timed by its own clock, which stands still while another program has the core.
    """
    clock = time.thread_time if threads == 1 else time.perf_counter
    repetitions = 1
    while min(_seconds(run, repetitions, clock) for _ in range(2)) < TRIAL_SECONDS:
        repetitions *= 2
    return [_seconds(run, repetitions, clock) / repetitions for _ in range(TRIALS)]


def _seconds(run: Callable[[int], object], repetitions: int, clock: Callable[[], float]) -> float:
    started = clock()
    run(repetitions)
    return clock() - started


def measure_clock(library: ctypes.CDLL, reporter: Reporter) -> None:
    """A cycle: an addition that waits for the one before."""
    reporter.phase("measuring the clock")
    library.calibrate_clock.argtypes, library.calibrate_clock.restype = [ctypes.c_long], ctypes.c_long
    reporter.report(measured="clock", seconds=[s / ADDITIONS for s in trials(library.calibrate_clock)])


def measure_threads(library: ctypes.CDLL, threads: int, reporter: Reporter) -> None:
    """A team's start and end, and a barrier, of all threads."""
    for name in ("team", "barrier"):
        reporter.phase(f"measuring a {name}")
        kernel = getattr(library, f"calibrate_{name}")
        kernel.argtypes, kernel.restype = [ctypes.c_long, ctypes.c_int], None
        reporter.report(measured=name, seconds=trials(partial(_with_threads, kernel, threads), threads=threads))


def _with_threads(kernel: Any, threads: int, repetitions: int) -> None:
    kernel(repetitions, threads)


def measure_rows(library: ctypes.CDLL, reporter: Reporter) -> None:
    """The start of a row: what rows of two lengths take that their iterations do not."""
    reporter.phase("measuring the start of a row")
    sums, data = (allocate("float64", (max(ROW_LENGTHS),)).values for _ in range(2))
    sums[...] = data[...] = np.linspace(0, 1, max(ROW_LENGTHS))
    kernel = library.calibrate_rows
    kernel.argtypes, kernel.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long], None
    short, long = (trials(partial(_rows, kernel, sums.ctypes.data, data.ctypes.data, length)) for length in ROW_LENGTHS)
    least, most = ROW_LENGTHS
    starts = [a - (b - a) / (most - least) * least for a, b in zip(sorted(short), sorted(long), strict=True)]
    reporter.report(measured="row", seconds=starts)


def _rows(kernel: Any, sums: int, data: int, length: int, rows: int) -> None:
    kernel(sums, data, rows, length)


def measure_streams(library: ctypes.CDLL, working_sets: list[tuple[int, int]], reporter: Reporter) -> None:
    """A byte out of each cache level, and out of memory as level 0."""
    library.stream_step.restype = ctypes.c_long
    library.stream.argtypes, library.stream.restype = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long], None
    step = int(library.stream_step())
    for level, byte_count in working_sets:
        reporter.phase(f"measuring a line from {f'L{level}' if level else 'memory'}")
        words = max(step, byte_count // 8 // step * step)
        array = allocate("float64", (words,)).values
        array[...] = np.linspace(0, 1, words)
        seconds = trials(partial(library.stream, array.ctypes.data, words))
        reporter.report(measured="byte", level=level, seconds=[s / (8 * words) for s in seconds])


def measure_shared_memory(library: ctypes.CDLL, byte_count: int, threads: int, reporter: Reporter) -> None:
    """A byte out of memory while every thread reads a part of the array."""
    reporter.phase("measuring memory that all cores read")
    library.stream_threads.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_int]
    library.stream_threads.restype = None
    share = int(library.stream_step()) * threads
    words = max(share, byte_count // 8 // share * share)
    array = allocate("float64", (words,)).values
    array[...] = np.linspace(0, 1, words)
    seconds = trials(lambda count: library.stream_threads(array.ctypes.data, words, count, threads),
                     threads=threads)
    reporter.report(measured="shared byte", seconds=[s / (8 * words) for s in seconds])


def measure_vectors(library: ctypes.CDLL, reporter: Reporter) -> None:
    """A multiply-add on full vectors, of many that wait for nothing."""
    reporter.phase("measuring multiply-adds")
    library.peak_float32.argtypes, library.peak_float32.restype = [ctypes.c_long], None
    reporter.report(measured="vector", seconds=[s / CHAINS for s in trials(library.peak_float32)])


def measure_allocation(library: ctypes.CDLL, reporter: Reporter) -> None:
    """A block from the heap, its first page touched, and its return."""
    reporter.phase("measuring an allocation")
    kernel = library.calibrate_allocation
    kernel.argtypes, kernel.restype = [ctypes.c_long, ctypes.c_ulong], None
    reporter.report(measured="allocation", seconds=trials(lambda count: kernel(count, BLOCK_BYTES)))


def main() -> None:
    """Measure everything that the request names."""
    request, reporter = start(sys.argv)
    library = ctypes.CDLL(request["library"])
    measure_clock(library, reporter)
    if request["threads"] > 1:
        measure_threads(library, request["threads"], reporter)
    measure_rows(library, reporter)
    measure_allocation(library, reporter)
    measure_vectors(library, reporter)
    measure_streams(library, request["working_sets"], reporter)
    if request["threads"] > 1:
        measure_shared_memory(library, dict(request["working_sets"])[0], request["threads"], reporter)
    reporter.report(end="finished")


if __name__ == "__main__":
    main()
