"""The worker's side: code by its key, loaded once, and nodes one after the other."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from polysched.runtime.dataflow.codes import Code


class Executor:
    """What one worker process holds: nothing but loaded code, so that losing it loses no value."""

    def __init__(self) -> None:
        self.loaded: dict[str, Callable[..., tuple[Any, ...]]] = {}
        self._turn = Lock()

    def load(self, code: Code) -> int:
        """Load code before the first node needs it; the process id."""
        if code.key not in self.loaded:
            self.loaded[code.key] = code.load()
        return os.getpid()

    def run(self, key: str, fetch: Callable[[], Code], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run a node; several threads may call, and one at a time runs: the others fetch and pack meanwhile.

        The first value is when it began here (seconds since 1970) and how many seconds it took; its own follow.

        Parameters
        ----------
        fetch : brings the code where it is not loaded.
        """
        with self._turn:
            if key not in self.loaded:
                self.load(fetch())
            moment, began = time.time(), time.perf_counter()
            values = self.loaded[key](*arguments)
            return ((moment, time.perf_counter() - began), *values)

    @staticmethod
    def crash() -> None:
        """End this process at once, as a fault of the machine would."""
        os.kill(os.getpid(), signal.SIGKILL)
