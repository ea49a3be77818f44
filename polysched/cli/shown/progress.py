"""Show what a long command is doing: a moving line on a terminal, plain lines elsewhere, nothing for quick ones.

Everything goes to standard error, so results can be piped.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

PATIENCE_SECONDS = 2.0
LINE_SECONDS = 10.0
"""A plain line of a count is followed by the next one after this time at the earliest."""


class Progress(logging.Handler):
    """Takes notice of steps; silent until the command has taken `PATIENCE_SECONDS`.

    A step that takes longer than that is shown while it runs, by a timer of its own.  The stages of the pipeline
    announce themselves (`pipeline.timing.stage_logger`).
    """

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet
        self._started = self._counted = time.monotonic()
        self._doing = ""
        self._said: set[str] = set()
        self._live: Any = None
        self._timer = threading.Timer(PATIENCE_SECONDS, self._show)
        self._timer.daemon = True
        self._showing = threading.RLock()
        self.pairs = 0
        if not quiet:
            self._timer.start()

    def step(self, doing: str) -> None:
        """Say what comes next."""
        self._doing = doing
        if not self._quiet and time.monotonic() - self._started > PATIENCE_SECONDS:
            self._show()

    def count(self, done: int, total: int, what: str) -> None:
        """Say how much is done; plain lines come at intervals."""
        now = time.monotonic()
        if sys.stderr.isatty() or done == total or now - self._counted > LINE_SECONDS:
            self._counted = now
            self.step(f"{done} of {total} {what}")

    def report(self, report: Mapping[str, Any]) -> None:
        """Take a report of a measuring child."""
        if "phase" in report:
            self.step(str(report["phase"]))
        elif "samples" in report and not report["warmup"]:
            self.pairs += 1
            if sys.stderr.isatty():
                self.step(f"timing, {self.pairs} pairs")

    def emit(self, record: logging.LogRecord) -> None:
        """Take the announcement of a stage."""
        self.step(record.getMessage())

    def _show(self) -> None:
        with self._showing:
            if not self._doing or self._quiet:
                return
            if sys.stderr.isatty():
                self._show_live()
            elif self._doing not in self._said:
                self._said.add(self._doing)
                print(f"polysched: {self._doing}", file=sys.stderr, flush=True)

    def _show_live(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text
        if self._live is None:
            # the standard output is left alone: what is printed there may go to a file
            console = Console(stderr=True)
            self._live = Live(console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
            self._live.start()
        self._live.update(Spinner("dots", Text(self._doing)), refresh=True)

    def hide(self) -> None:
        """Remove the moving line until the next step, so that something can be printed."""
        with self._showing:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def stop(self) -> None:
        """Remove the moving line, and show nothing more."""
        self._timer.cancel()
        self._quiet = True
        self.hide()


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """A progress display for the body."""
    shown = Progress(quiet=quiet)
    stages = logging.getLogger("polysched.stages")
    before = stages.level, stages.propagate
    stages.addHandler(shown)
    stages.setLevel(logging.INFO)
    stages.propagate = False
    try:
        yield shown
    finally:
        shown.stop()
        stages.removeHandler(shown)
        stages.setLevel(before[0])
        stages.propagate = before[1]
