"""Output files: refused up front when they cannot be written, and replaced as a whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from polysched.errors import OutputError, UsageError

STANDARD_OUTPUT = "-"


class Output:
    """A file that will be written; make it with `prepared`."""

    def __init__(self, name: str, target: Path | None, temporary: Path | None) -> None:
        self._name = name
        self._target = target
        self._temporary = temporary

    def write(self, text: str) -> None:
        """Write the whole content; what stood there before stays until all of it is on the disk."""
        if self._target is None:
            sys.stdout.write(text)
            sys.stdout.flush()
            return
        try:
            with open(self._temporary or self._target, "w", encoding="utf-8", errors="surrogateescape",
                      newline="") as file:
                file.write(text)
                file.flush()
                if self._temporary is not None:
                    os.fsync(file.fileno())
            if self._temporary is not None:
                os.replace(self._temporary, self._target)
        except OSError as error:
            raise OutputError(f"the output cannot be written: {error.strerror}", where=self._name) from None

    def write_json(self, value: Any) -> None:
        """Write a value as indented JSON."""
        self.write(json.dumps(value, indent=2, allow_nan=False) + "\n")

    def write_json_of_regions(self, values: Sequence[Any]) -> None:
        """Write what is said of each region: an object for one region, a list for several."""
        self.write_json(values[0] if len(values) == 1 else list(values))


@contextmanager
def prepared(name: str | None) -> Iterator[Output | None]:
    """An output that is known to be writable, or None when no name is given; `-` is the standard output.

    Raises
    ------
    OutputError : it cannot be written; nothing was touched.
    UsageError : another output that is open goes to the standard output as well.
    """
    if name is None:
        yield None
        return
    if name == STANDARD_OUTPUT:
        with _promised():
            yield Output(name, None, None)
        return
    target = Path(os.path.realpath(name))
    if target.exists() and not stat.S_ISREG(target.stat().st_mode) and not target.is_dir():
        yield Output(name, target, None)
        return
    temporary = _temporary_beside(name, target)
    try:
        yield Output(name, target, temporary)
    finally:
        temporary.unlink(missing_ok=True)


_standard_output = Lock()


@contextmanager
def _promised() -> Iterator[None]:
    """The standard output for one text alone."""
    if not _standard_output.acquire(blocking=False):
        raise UsageError("two texts cannot both go to the standard output", hint="name a file for one of them")
    try:
        yield
    finally:
        _standard_output.release()


def _temporary_beside(name: str, target: Path) -> Path:
    """An empty file in the target's folder with the permissions that the target has or would get."""
    if target.is_dir():
        raise OutputError("the output is a folder", where=name, hint="name a file in it")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError("the output file may not be written", where=name, hint="it is read-only for this user")
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror}", where=name,
                          hint="the folder has to exist and to be writable") from None
    with os.fdopen(descriptor):
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~umask)
    return Path(temporary)


def refuse_same_file(source: str, output: str | None) -> None:
    """Refuse to overwrite the input."""
    if output not in (None, STANDARD_OUTPUT) and os.path.realpath(source) == os.path.realpath(str(output)):
        raise OutputError("the output is the input file", where=str(output), hint="give another name with -o")
