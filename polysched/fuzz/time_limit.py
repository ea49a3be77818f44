"""A limit of CPU time on a block of Python: the block is left by an exception, the process goes on.

CPU time does not depend on what else the machine does.  The signal is handled between two steps of the interpreter, so
a call of a library that does not return is not interrupted.  `watchdog` ends the process then, and its parent reads
where it was; every process has a file of its own for that, whatever else runs in its working directory.
"""

from __future__ import annotations

import faulthandler
import math
import re
import signal
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

MOST_FRAMES = 8
FRAMES = "frames-"
AGAIN = 1.0
"""CPU seconds until the exception is raised once more: Python drops what a weak reference's callback raises."""


class OutOfTime(Exception):
    """The block needed more than its CPU time; the message names the functions it was in, the innermost first."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block when this process has used so much CPU time in it; outside the main thread never."""
    if math.isinf(seconds) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        places = traceback.extract_stack(frame)[::-1][:MOST_FRAMES]
        where = ", ".join(f"{f.name} ({'/'.join(Path(f.filename).parts[-2:])}:{f.lineno})" for f in places)
        raise OutOfTime(f"not done after {seconds:g} seconds; it was in {where}")

    before = signal.signal(signal.SIGPROF, over)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})  # a parent may have blocked it
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """End this process when the block takes longer, even inside a call of isl, which no exception interrupts."""
    with tempfile.NamedTemporaryFile("w", prefix=FRAMES, dir=Path.cwd()) as frames:
        faulthandler.dump_traceback_later(seconds, exit=True, file=frames)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def place_of_end(folder: Path) -> str:
    """The innermost functions that a child was in when its watchdog ended it, the deepest first; "" if none did."""
    frames = next(folder.glob(f"{FRAMES}*"), None)
    found = re.findall(r'File "(?:.*/)?([^/"]+/[^/"]+)", line (\d+) in (\S+)', frames.read_text() if frames else "")
    return ", ".join(f"{function} ({path}:{line})" for path, line, function in found[:MOST_FRAMES])
