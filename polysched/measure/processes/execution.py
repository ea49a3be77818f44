"""A compiled program that runs on its own: its output, its exit status, and an end to its time."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from polysched.records import dataclass


@dataclass(frozen=True)
class Ran:
    """How a program ended.

    Parameters
    ----------
    output : to standard output, also of one that was ended.
    errors : to standard error.
    status : its exit status, minus the number of a signal; None where its time was over.
    """

    output: str
    errors: str
    status: int | None


def run_program(command: Sequence[str | Path], *, seconds: float, folder: Path | None = None) -> Ran:
    """Run a program to its end, or until its time is over; no end of it is an exception."""
    try:
        done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, timeout=seconds,
                              encoding="utf-8", errors="replace", check=False)
    except subprocess.TimeoutExpired as late:
        return Ran(output=_text(late.stdout), errors=_text(late.stderr), status=None)
    return Ran(output=done.stdout, errors=done.stderr, status=done.returncode)


def _text(said: bytes | str | None) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said or ""
