"""The process in which `serve` has jobs run apart: it takes one request on its standard input, and ends.

    {"memory": fd, "bytes": n, "scheduler": path, "rows": offset, "told": offset, "yields": offset,
     "options": bytes, "parent": pid,
     "jobs": [{"library": path, "entry": name, "arguments": [offset], "latency": offset, "waiting": offset}]}

Offsets are those of the shared memory, in which the rows of the jobs lie, too.  Where a kernel crashes, the parent
reads from them how far everything was.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import resource
import signal
import sys
from typing import Any

from polysched.runtime.scheduler_rows import RUN, SERVE, JobRow, Options, Told

_PR_SET_PDEATHSIG = 1
"""prctl(2): the signal that this process gets when its parent ends."""


def main() -> int:
    """Serve the jobs of the request; what the scheduler returns."""
    request = pickle.load(sys.stdin.buffer)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != request["parent"]:
        return 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = mmap.mmap(request["memory"], request["bytes"])
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    jobs = request["jobs"]
    rows = (JobRow * len(jobs)).from_buffer(memory, request["rows"])
    told = Told.from_buffer(memory, request["told"])
    told.yields = _doubles(start + request["yields"])
    kept = [_connected(row, job, start) for row, job in zip(rows, jobs, strict=True)]
    options = Options.from_buffer_copy(request["options"])
    serve = getattr(ctypes.CDLL(request["scheduler"]), SERVE)
    status = int(serve(rows, len(rows), ctypes.byref(options), ctypes.byref(told)))
    del kept
    sys.stdout.write("done")
    sys.stdout.flush()
    os._exit(status)   # the mapping is still in use


def _connected(row: JobRow, job: dict[str, Any], start: int) -> object:
    """Give a row what it points to; what has to stay."""
    library = ctypes.CDLL(job["library"])
    offsets = job["arguments"]
    addresses = (ctypes.c_void_p * max(1, len(offsets)))(*(start + offset for offset in offsets))
    row.run = RUN((job["entry"], library))
    row.arguments = addresses
    row.latency, row.waiting = (_doubles(start + job[name]) for name in ("latency", "waiting"))
    return library, addresses, row.run


def _doubles(address: int) -> Any:
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_double))


if __name__ == "__main__":
    sys.exit(main())
