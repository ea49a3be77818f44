"""Standard input where a command reads a file more than once."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from polysched.cli.conventions import STANDARD


@contextmanager
def as_files(names: Sequence[str]) -> Iterator[list[str]]:
    """The names, with a temporary file of what standard input has for `-`."""
    if STANDARD not in names:
        yield list(names)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "standard_input")
        copy.write_bytes(sys.stdin.buffer.read())
        yield [str(copy) if name == STANDARD else name for name in names]
