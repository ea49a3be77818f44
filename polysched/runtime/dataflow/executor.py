"""The worker's side: code by its key, loaded once, and nodes one after the other."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

from polysched.runtime.dataflow.codes import Code


class Executor:
    """What one worker process holds: nothing but loaded code, so that losing it loses no value.

    Nodes run in one thread.  The threads that call only unpack what a node takes and pack what it gives: so the next
    node begins in the moment in which the one before it ends.
    """

    def __init__(self) -> None:
        self.loaded: dict[str, Callable[..., tuple[Any, ...]]] = {}
        self._loading = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="polysched-node")

    def load(self, code: Code) -> int:
        """Load code before the first node needs it; the process id."""
        with self._loading:
            if code.key not in self.loaded:
                self.loaded[code.key] = code.load()
        return os.getpid()

    def run(self, key: str, fetch: Callable[[], Code] | None, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run a node; several threads may call, and one node runs at a time.

        The first value is when it began here (seconds since 1970) and how many seconds it took; its own follow.

        Parameters
        ----------
        fetch : brings the code where it is not loaded; None where it is known to be.
        """
        return self._thread.submit(self._run, key, fetch, arguments).result()

    def _run(self, key: str, fetch: Callable[[], Code] | None, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if fetch is not None and key not in self.loaded:
            self.load(fetch())
        moment, began = time.time(), time.perf_counter()
        values = self.loaded[key](*arguments)
        return ((moment, time.perf_counter() - began), *values)

    @staticmethod
    def crash() -> None:
        """End this process at once, as a fault of the machine would."""
        os.kill(os.getpid(), signal.SIGKILL)
