"""A private temporary folder for one compilation or one child process, removed whatever happens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def workspace() -> Iterator[Path]:
    """A fresh folder that only this user can read; it and everything in it is gone afterwards.

    It stands in `$TMPDIR`.  Ctrl-C and termination unwind through it, since the command line turns SIGTERM
    into an exception.
    """
    with tempfile.TemporaryDirectory(prefix="polysched-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
