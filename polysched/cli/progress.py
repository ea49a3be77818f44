"""Show what a long command is doing: a moving line on a terminal, plain lines elsewhere, nothing for quick ones.

Everything goes to standard error, so results can be piped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

PATIENCE_SECONDS = 2.0


class Progress:
    """Takes notice of steps; silent until the command has taken `PATIENCE_SECONDS`."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._started = time.monotonic()
        self._said: set[str] = set()
        self._live: Any = None
        self.pairs = 0

    def step(self, doing: str) -> None:
        """Say what comes next."""
        if self._quiet:
            return
        if sys.stderr.isatty():
            self._show_live(doing)
        elif time.monotonic() - self._started > PATIENCE_SECONDS and doing not in self._said:
            self._said.add(doing)
            print(f"polysched: {doing}", file=sys.stderr, flush=True)

    def report(self, report: Mapping[str, Any]) -> None:
        """Take a report of a measuring child."""
        if "phase" in report:
            self.step(str(report["phase"]))
        elif "samples" in report and not report["warmup"]:
            self.pairs += 1
            if sys.stderr.isatty():
                self.step(f"timing, {self.pairs} pairs")

    def _show_live(self, doing: str) -> None:
        if time.monotonic() - self._started < PATIENCE_SECONDS / 4:
            return
        if self._live is None:
            from rich.console import Console
            self._live = Console(stderr=True).status(doing)
            self._live.start()
        else:
            self._live.update(doing)

    def stop(self) -> None:
        """Remove the moving line."""
        if self._live is not None:
            self._live.stop()
            self._live = None


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """A progress display for the body."""
    shown = Progress(quiet=quiet)
    try:
        yield shown
    finally:
        shown.stop()
