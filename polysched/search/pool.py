"""PoolBuilder: the C of recipes, made by several warm processes; one that dies or hangs costs one candidate."""

from __future__ import annotations

import json
import logging
import os
import queue
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from polysched.errors import PolyschedError, RunFailedError, UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop.scop import Scop
from polysched.search.building import Candidate, Wanted
from polysched.search.limits import LIMITS
from polysched.search.worker import first_line

logger = logging.getLogger(__name__)
MODULE = "polysched.search.worker"


class PoolBuilder:
    """Makes the C of a batch in several processes, which stay warm; a context manager.

    Parameters
    ----------
    scop : a region of a C file.
    jobs : processes.
    ready : told each candidate as soon as it is made, from the thread that waited for it.

    Raises
    ------
    UsageError : the program comes from no file that another process can read.
    """

    def __init__(self, scop: Scop, options: PipelineOptions, jobs: int, *, module: str = MODULE) -> None:
        if not is_readable(scop):
            raise UsageError("the program comes from no file that another process can read", where=scop.name)
        self._first, self._jobs, self._module = first_line(scop, options), jobs, module
        self.ready: Callable[[Candidate], None] | None = None
        self._idle: queue.SimpleQueue[_Worker | None] = queue.SimpleQueue()
        for _ in range(jobs):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        while not self._idle.empty():
            worker = self._idle.get()
            if worker is not None:
                worker.end()

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        """The candidates, in the order asked for; all processes are idle again afterwards.

        Recipes that differ in flags of the compiler alone go to one process, one behind the other: it emits one C.
        """
        groups: dict[Recipe, list[Wanted]] = {}
        for one in wanted:
            groups.setdefault(replace(one.proposal.recipe, flags=()), []).append(one)
        with ThreadPoolExecutor(max_workers=self._jobs) as threads:
            made = {one.number: candidate for group in threads.map(self._group, groups.values())
                    for one, candidate in group}
        return [made[one.number] for one in wanted]

    def _group(self, wanted: Sequence[Wanted]) -> list[tuple[Wanted, Candidate | PolyschedError]]:
        """Candidates with one C by one process; where it ends or hangs, none of them is asked for again."""
        worker = self._idle.get()
        found: list[tuple[Wanted, Candidate | PolyschedError]] = []
        try:
            worker = worker or _Worker(self._module, self._first)
            for one in wanted:
                made, worker = self._one(worker, one)
                if worker is None:
                    return [*found, *((left, made) for left in wanted[len(found):])]
                found.append((one, made))
        finally:
            self._idle.put(worker)
        return found

    def _one(self, worker: _Worker, wanted: Wanted) -> tuple[Candidate | PolyschedError, _Worker | None]:
        """A candidate, and the process if it is still there."""
        reply = worker.ask({"number": wanted.number, "recipe": wanted.proposal.recipe.to_json()})
        if reply is None:
            worker.end()
            return RunFailedError("the process that makes the code ended or hung",
                                  witness=str(wanted.proposal.recipe)), None
        if "problem" in reply:
            return PolyschedError(reply["problem"], witness=reply["witness"], hint=reply["hint"]), worker
        made = Candidate(name=f"v{wanted.number}", proposal=wanted.proposal, text=reply["text"], code=reply["code"],
                         predicted_seconds=wanted.predicted_seconds)
        if self.ready is not None:
            self.ready(made)
        return made, worker


class _Worker:
    """One process, with what it has said so far."""

    def __init__(self, module: str, first: str) -> None:
        path = os.pathsep.join(p or os.getcwd() for p in sys.path)
        self._process = subprocess.Popen([sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path},
                                         start_new_session=True)
        self._rest = b""
        self._send(first)

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The reply; None where the process ended or was silent for too long."""
        if not self._send(json.dumps(request)):
            return None
        line = self._line()
        reply: dict[str, Any] | None = None if line is None else json.loads(line)
        return reply

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):   # what it was asked last may not have reached it
                    pipe.close()

    def _send(self, line: str) -> bool:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, OSError):
            logger.debug("a worker ended before it was asked")
            return False
        return True

    def _line(self) -> bytes | None:
        """The next line of its output."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(LIMITS.build_seconds):
                    return None
                data = os.read(self._process.stdout.fileno(), 1 << 16)
                if not data:
                    return None
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def is_readable(scop: Scop) -> bool:
    """Whether another process can read the program anew."""
    return scop.source is not None and os.path.isfile(scop.source.path)
