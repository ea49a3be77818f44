"""A watchdog of a child process: it ends the child where a block takes too long, and the parent reads where that was.

Every child has a file of its own, whatever else runs in its working directory.
"""

from __future__ import annotations

import faulthandler
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polysched.fuzz.time_limit import MOST_FRAMES

FRAMES = "frames-"


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
