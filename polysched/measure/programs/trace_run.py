"""The child process of `instance_trace`: run instrumented code and keep what it reports.

It imports no other room: a check of an order starts one, and isl and the emitter would cost a second each time.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

from polysched.measure.processes.child_side import start

TRACE = "polysched_trace"
"""How the names of the instrumentation begin."""


def main(arguments: list[str]) -> None:
    """Run once to count the numbers that are reported, and once more to keep them."""
    request, reporter = start(arguments)
    library = ctypes.CDLL(request["library"])
    values = [ctypes.c_long(value) for value in request["values"]]
    records = np.zeros(0, np.int64)
    for _ in range(2):
        getattr(library, f"{TRACE}_start")(ctypes.c_void_p(records.ctypes.data), ctypes.c_long(records.size))
        library.traced(*values)
        records = records if records.size else np.zeros(getattr(library, f"{TRACE}_stop")(), np.int64)
    np.save(request["records"], records)
    reporter.report(end="finished")


if __name__ == "__main__":
    main(sys.argv)
