"""Standard streams that are closed, full or no longer read.

| stream | where it takes no more |
|---|---|
| standard error | the command goes on without its words |
| standard output, whose reader went away | the command ends quietly (`BrokenPipeError`) |
| standard output that is closed or full | the command is refused (`OutputError`), with no traceback |

Python itself writes what is left of them when it ends; a failure there would be the exit code 120.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from polysched.errors import OutputError


class _Guarded:
    """A stream whose writes cannot raise an `OSError`, a closed pipe of the standard output apart."""

    def __init__(self, stream: TextIO | None, nobody: TextIO, *, kept: bool) -> None:
        self._closed = stream is None
        self._stream = nobody if stream is None else stream
        self._kept = kept   # what is written has to arrive

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if self._closed and self._kept and text:
            raise OutputError("the output cannot be written: it is closed", where="standard output")
        try:
            return self._stream.write(text)
        except OSError as error:
            self._lost(error)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> None:
        """Leave the rest to nobody, and raise what the command has to know."""
        nobody = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nobody, self._stream.fileno())
        os.close(nobody)
        if isinstance(error, BrokenPipeError) and self._kept:
            raise error
        if self._kept:
            raise OutputError(f"the output cannot be written: {error.strerror}", where="standard output") from None


@contextmanager
def heard_errors() -> Iterator[None]:
    """Nothing that goes wrong with standard error ends the body."""
    before = sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nobody:
        sys.stderr = cast(TextIO, _Guarded(before, nobody, kept=False))
        try:
            yield
        finally:
            sys.stderr.flush()
            sys.stderr = before


@contextmanager
def written_output() -> Iterator[None]:
    """All that the body prints is written when it ends.

    Raises
    ------
    OutputError : standard output is closed or full.
    BrokenPipeError : nobody reads it any more.
    """
    before = sys.stdout
    with open(os.devnull, "w", encoding="utf-8") as nobody:
        guarded = _Guarded(before, nobody, kept=True)
        sys.stdout = cast(TextIO, guarded)
        try:
            yield
            guarded.flush()
        except SystemExit:   # of `--help`, for instance
            guarded.flush()
            raise
        except BaseException:
            with suppress(OutputError, BrokenPipeError):
                guarded.flush()
            raise
        finally:
            sys.stdout = before
