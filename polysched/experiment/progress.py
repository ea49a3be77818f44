"""Show how far an experiment is: a bar on a terminal, plain lines elsewhere; on standard error, like all progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_SECONDS = 20.0


class CaseProgress:
    """Takes notice of cases and of what is being done in them."""

    def __init__(self, total: int, *, skipped: int, quiet: bool, verbose: bool = False) -> None:
        self._total, self._finished, self._quiet, self._verbose = total, 0, quiet, verbose
        self._case, self._said = "", time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        if skipped:
            self.say(f"{skipped} {'cases are' if skipped > 1 else 'case is'} done already, {total} to go")
        if not quiet and total and sys.stderr.isatty():
            self._start_bar()

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                             console=Console(stderr=True))
        self._task = self._bar.add_task("", total=self._total)
        self._bar.start()

    def started(self, case: str) -> None:
        """A case begins."""
        self._case = case
        if self._bar is not None:
            self._bar.update(self._task, description=case)

    def phase(self, doing: str) -> None:
        """What the case is doing now; a plain line only after some silence, or where details are wanted."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self._case}: {doing}")
        if self._verbose or (self._bar is None and time.monotonic() - self._said > PATIENCE_SECONDS):
            self.say(f"{self._case}: {doing}")

    def finished(self, case: str, problem: str) -> None:
        """A case has its record."""
        self._finished += 1
        if self._bar is not None:
            self._bar.advance(self._task)
        if problem or self._bar is None:
            self.say(f"[{self._finished}/{self._total}] {case}{f': {problem}' if problem else ''}")

    def say(self, text: str) -> None:
        """A plain line; above the bar where there is one."""
        self._said = time.monotonic()
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(f"polysched: {text}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def case_progress(total: int, *, skipped: int, quiet: bool, verbose: bool = False) -> Iterator[CaseProgress]:
    """A progress display for the body."""
    shown = CaseProgress(total, skipped=skipped, quiet=quiet, verbose=verbose)
    try:
        yield shown
    finally:
        shown.stop()
