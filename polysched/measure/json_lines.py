"""Files of JSON lines that survive interruption and concurrent writers.

A line is written by one `write` on a descriptor opened for appending, under an advisory lock; a line that a killed
process left unfinished is closed by the next writer and skipped, with a warning, by the reader.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from polysched.errors import OutputError, UsageError

logger = logging.getLogger(__name__)


def append_line(path: str | Path, value: Mapping[str, Any]) -> None:
    """Add one line, creating the file if need be.

    Raises
    ------
    OutputError : the file cannot be written.
    """
    line = json.dumps(value, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError as error:
        raise OutputError(f"the results cannot be written: {error.strerror}", where=str(path)) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        end = os.lseek(descriptor, 0, os.SEEK_END)
        if end and os.pread(descriptor, 1, end - 1) != b"\n":
            line = b"\n" + line
        if os.write(descriptor, line) != len(line):
            os.ftruncate(descriptor, end)
            raise OutputError("the results cannot be written: the disk is full", where=str(path))
        os.fsync(descriptor)
    except OSError as error:
        raise OutputError(f"the results cannot be written: {error.strerror}", where=str(path)) from None
    finally:
        os.close(descriptor)


def read_lines(path: str | Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Every complete line with its number, counted from 1.

    Raises
    ------
    UsageError : the file cannot be read, or its lines are no JSON objects.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"the results cannot be read: {error.strerror}", where=str(path)) from None
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    values = [(number, _parsed(line)) for number, line in lines]
    if len(values) > 1 and all(value is None for _, value in values):
        raise UsageError("this is not a results file", where=str(path))
    for number, value in values:
        if value is None:
            logger.warning("%s:%d: an unfinished line was skipped", path, number)
            continue
        if not isinstance(value, dict):
            raise UsageError("this is not a results file", where=f"{path}:{number}")
        yield number, value


def _parsed(line: bytes) -> Any:
    """The JSON value of a line; None when it is not complete."""
    try:
        return json.loads(line)
    except ValueError:
        return None
