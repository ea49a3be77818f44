"""The child process of `cache_simulation`: run loops that feed simulated caches, and keep the counts."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from polysched.measure.processes.child_side import start


def main(arguments: list[str]) -> None:
    """Run once; numbers below zero mean that the simulator had no memory."""
    request, reporter = start(arguments)
    library = ctypes.CDLL(request["library"])
    counts = np.full(request["count"], -1, np.int64)
    library.simulate(ctypes.c_void_p(counts.ctypes.data), *(ctypes.c_long(value) for value in request["values"]))
    np.save(request["counts"], counts)
    reporter.report(end="finished")


if __name__ == "__main__":
    main(sys.argv)
