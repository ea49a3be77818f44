"""The child process that measures peaks: `python -m polysched.measure.timing.peak_run REQUEST REPORTS`."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from polysched.measure.processes.child_side import Reporter, start
from polysched.measure.programs.inputs import allocate
from polysched.measure.timing.peak_tiles import SUFFIX

TRIAL_SECONDS = 0.02
TRIALS = 9


def best_rate(run: Callable[[int], object], *, expected: float = 0.0) -> float:
    """Repetitions per second: the best of several trials of at least `TRIAL_SECONDS`.

    The number of repetitions grows until the quicker of two calls takes long enough: a first call may wait for
    threads to start.

    Parameters
    ----------
    expected : repetitions per second, if they are known about.
    """
    repetitions = max(1, int(expected * TRIAL_SECONDS))
    while (seconds := min(_seconds(run, repetitions) for _ in range(2))) < TRIAL_SECONDS:
        growth = min(100.0, 1.2 * TRIAL_SECONDS / max(seconds, 1e-7))
        repetitions = max(2 * repetitions, int(repetitions * growth))
    return repetitions / min(seconds, *(_seconds(run, repetitions) for _ in range(TRIALS)))


def _seconds(run: Callable[[int], object], repetitions: int) -> float:
    started = time.perf_counter()
    run(repetitions)
    return time.perf_counter() - started


def measure_arithmetic(library: ctypes.CDLL, operations: dict[str, float], threads: int, reporter: Reporter) -> None:
    """Operations per second of one core and of all, by element type; of a matrix unit if the system permits it."""
    library.tiles_permitted.restype = ctypes.c_long
    permitted = bool(library.tiles_permitted())
    for name, count in operations.items():
        if name.endswith(SUFFIX) and not permitted:
            continue
        reporter.phase(f"measuring {name} arithmetic")
        kernel = getattr(library, f"peak_{name}")
        kernel.argtypes = [ctypes.c_long]
        kernel.restype = None
        rate = best_rate(kernel)
        library.peak_threads.argtypes = [ctypes.c_void_p, ctypes.c_long]
        library.peak_threads.restype = None
        address = ctypes.cast(kernel, ctypes.c_void_p)

        def together(repetitions: int, address: ctypes.c_void_p = address) -> None:
            library.peak_threads(address, repetitions)

        reporter.report(arithmetic=name.removesuffix(SUFFIX), one=count * rate,
                        all=threads * count * best_rate(together, expected=rate))


def measure_bandwidth(library: ctypes.CDLL, level: int, byte_count: int, threads: int, reporter: Reporter) -> None:
    """Bytes per second read from a working set of this size, by one core; out of memory also by all."""
    reporter.phase(f"measuring the bandwidth of {f'L{level}' if level else 'memory'}")
    step = int(library.stream_step())
    words = max(step, byte_count // 8 // step * step)
    array = allocate("float64", (words,)).values
    array[...] = np.linspace(0, 1, words)
    library.stream.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
    library.stream.restype = None
    rate = 8.0 * words * best_rate(lambda repetitions: library.stream(array.ctypes.data, words, repetitions))
    result: dict[str, Any] = {"bandwidth": level, "one": rate}
    if level == 0 and threads > 1:
        library.stream_threads.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_int]
        library.stream_threads.restype = None
        per_call = words // threads // step * step * threads
        result["all"] = 8.0 * per_call * best_rate(
            lambda repetitions: library.stream_threads(array.ctypes.data, words, repetitions, threads))
    reporter.report(**result)


def main() -> None:
    """Measure everything that the request names."""
    request, reporter = start(sys.argv)
    library = ctypes.CDLL(request["library"])
    library.stream_step.restype = ctypes.c_long
    measure_arithmetic(library, request["operations"], request["threads"], reporter)
    for level, byte_count in request["working_sets"]:
        measure_bandwidth(library, level, byte_count, request["threads"], reporter)
    reporter.report(end="finished")


if __name__ == "__main__":
    main()
