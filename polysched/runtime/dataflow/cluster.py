"""`Cluster`: sends nodes to workers, and sends them again where a worker is lost.

A node's values live in the object stores of the machines, not in the process that computed them.  So a lost process
costs the node that it ran, and nothing that was done.  A spare process, with all code loaded, takes its place at once.
Nodes that were sent ahead fail with it, and are sent again with the new references; nobody who holds a future sees it.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import RLock, Thread
from typing import Any

from polysched.errors import RunFailedError, UsageError
from polysched.runtime.dataflow.codes import Code
from polysched.runtime.dataflow.nodes import Future, Node, timed_out
from polysched.runtime.dataflow.program import Program
from polysched.runtime.dataflow.ray_workers import RayWorkers, Told
from polysched.runtime.limits import LIMITS
from polysched.target.one_line import OneLine


@dataclass(frozen=True, kw_only=True)
class Loss(OneLine):
    """A worker that was lost.

    Parameters
    ----------
    worker : its place.
    at : seconds since the cluster started.
    spare : whether a spare process took its place at once; otherwise a new one was started.
    """

    worker: int
    at: float
    spare: bool


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A node that gave its values.

    Parameters
    ----------
    program, worker : of the node.
    began : seconds since 1970, by the clock of the worker's machine.
    seconds : that it took there.
    attempt : 1, and one more for each time that it was sent again.
    """

    program: str
    worker: int
    began: float
    seconds: float
    attempt: int


@dataclass(frozen=True, kw_only=True)
class Put:
    """A value in the object store."""

    reference: Any


class Cluster:
    """A gang of workers, and the programs that share it; a context manager.

    Parameters
    ----------
    workers : processes that run nodes.
    spares : further ones that wait to take the place of a lost one.
    address : of a running Ray cluster; None starts one on this machine that ends with this value.
    seconds : to wait for the places of all processes.

    Raises
    ------
    UsageError : a number is out of its range, Ray is not installed, or no cluster answers.
    RunFailedError : the cluster has no places for all of them at once.
    """

    def __init__(self, *, workers: int = 2, spares: int = 1, address: str | None = None, seconds: float = 60.0) -> None:
        if not 1 <= workers <= LIMITS.most_cluster_workers or not 0 <= spares <= LIMITS.most_cluster_workers:
            raise UsageError(f"a cluster has 1 to {LIMITS.most_cluster_workers} workers, and 0 or more spares",
                             witness=f"{workers} and {spares}")
        self.workers = workers
        self.losses: list[Loss] = []
        self.ran: list[Ran] = []
        self.sent_again = 0
        self._engine = RayWorkers(workers + spares, address=address, seconds=seconds, store=LIMITS.store_bytes)
        actors = list(self._engine.actors)
        self._actors = actors[:workers]
        self._places = dict(enumerate(range(workers)))
        self._spares = [(actor, workers + at) for at, actor in enumerate(actors[workers:])]
        self._gone: set[str] = set()
        self._codes: dict[str, tuple[Code, Any]] = {}
        self._pending: dict[Node, None] = {}   # sent, and not ended
        self._lock = RLock()
        self._events: queue.SimpleQueue[tuple[Node, int, Told | None, Exception | None] | None] = queue.SimpleQueue()
        self._started = time.monotonic()
        self._thread = Thread(target=self._watch, name="polysched-dataflow", daemon=True)
        self._thread.start()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (f"<Cluster of {self.workers} workers and {len(self._spares)} spare, {len(self.losses)} lost, "
                f"{self.sent_again} nodes sent again>")

    def close(self) -> None:
        """End the workers; results that nobody fetched are gone."""
        self._events.put(None)
        self._thread.join()
        self._engine.close()

    def program(self, name: str, workers: Sequence[int] | None = None) -> Program:
        """A program on all workers, or on some.

        Raises
        ------
        UsageError : there is no such worker, or one is named twice.
        """
        chosen = tuple(range(self.workers)) if workers is None else tuple(workers)
        if not chosen or any(not 0 <= w < self.workers for w in chosen) or len(set(chosen)) < len(chosen):
            raise UsageError(f"a program runs on different workers from 0 to {self.workers - 1}", where=name,
                             witness=repr(chosen))
        return Program(self, name, chosen)

    def load(self, codes: Iterable[Code]) -> None:
        """Bring code to all processes, spare ones too, and wait."""
        for code in codes:
            with self._lock:
                reference = self._reference(code)
                actors = [*self._actors, *(actor for actor, _ in self._spares)]
            self._engine.load(actors, reference)

    def put(self, value: Any) -> Put:
        """A value in the object store."""
        return Put(reference=self._engine.put(value))

    def crash(self, worker: int) -> None:
        """Kill the process of a worker now, whatever it does: a failure, for experiments."""
        with self._lock:
            self._engine.crash(self._actors[worker])

    def send(self, node: Node) -> None:
        """Send a node, and before it what it takes that was not sent yet."""
        with self._lock:
            self._send(node)

    def fetch(self, future: Future, seconds: float | None) -> Any:
        """The value of a future; see `Future.result`."""
        node = future.node
        self.send(node)
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            if not node.ended.wait(None if end is None else max(end - time.monotonic(), 0)):
                raise timed_out(seconds)
            if node.error is not None:
                raise node.error
            with self._lock:
                attempt, reference = node.attempt, node.references[future.at]
            try:
                return self._engine.get(reference)
            except self._engine.losses as error:
                raise RunFailedError("a value was lost with the machine that held it", where=node.program,
                                     witness=f"attempt {attempt} of a node on worker {node.worker}") from error

    def _send(self, node: Node) -> None:
        if node.references or node.ended.is_set():
            return
        for before in node.inputs:
            self._send(before)
        self._start(node)

    def _start(self, node: Node) -> None:
        actor = self._actors[node.worker]
        node.attempt += 1
        node.actor = self._engine.name(actor)
        attempt = node.attempt
        self._pending.setdefault(node)
        arguments = [a.node.references[a.at] if isinstance(a, Future) else a.reference if isinstance(a, Put) else a
                     for a in node.arguments]
        node.references = self._engine.run(
            actor, node.code.key, self._reference(node.code), node.code.results, arguments,
            lambda told, error: self._events.put((node, attempt, told, error)))

    def _reference(self, code: Code) -> Any:
        if code.key not in self._codes:
            self._codes[code.key] = code, self._engine.put(code)
        return self._codes[code.key][1]

    def _watch(self) -> None:
        """The thread that hears of ends and losses."""
        while (event := self._events.get()) is not None:
            node, attempt, told, error = event
            with self._lock:
                if node.attempt == attempt and not node.ended.is_set():
                    self._ended(node, told, error)

    def _ended(self, node: Node, told: Told | None, error: Exception | None) -> None:
        if error is None:
            node.began, node.seconds = told or (0.0, 0.0)
            if len(self.ran) < LIMITS.most_ran:
                self.ran.append(Ran(program=node.program, worker=node.worker, began=node.began, seconds=node.seconds,
                                    attempt=node.attempt))
            self._end(node)
            return
        lost = self._engine.lost_actor(error)
        if lost is None:
            self._fail(node, self._engine.plain(error))
            return
        if not lost:
            self._fail(node, RunFailedError("a value was lost with the machine that held it", where=node.program,
                                            witness=f"an input of a node on worker {node.worker}"))
            return
        attempt = node.attempt
        if lost not in self._gone:
            self._replace(lost)
            self._send_doomed_again()
        if node.attempt == attempt and not node.ended.is_set():
            self._again(node)

    def _fail(self, node: Node, error: BaseException) -> None:
        node.error = error
        self._end(node)

    def _end(self, node: Node) -> None:
        node.arguments = ()   # what it took may be dropped now
        self._pending.pop(node, None)
        node.ended.set()

    def _send_doomed_again(self) -> None:
        """Send again what was sent to a lost process, and what takes values of such nodes; each once, inputs first."""
        again: set[Node] = set()
        for node in list(self._pending):   # in the order in which they were sent, so inputs come first
            if node.actor in self._gone or not again.isdisjoint(node.inputs):
                again.add(node)
                self._again(node)

    def _again(self, node: Node) -> None:
        """Send a node again, unless an input failed or its code is to blame."""
        failed = next((n.error for n in node.inputs if n.error is not None), None)
        if failed is not None:
            self._fail(node, failed)
            return
        if node.actor in self._gone and all(n.done for n in node.inputs):
            node.suspected += 1
            if node.suspected >= LIMITS.most_losses:
                self._fail(node, RunFailedError(
                    f"a worker was lost {node.suspected} times while it ran a node", where=node.program,
                    witness=f"worker {node.worker}", hint="its code may crash the process"))
                return
        self.sent_again += 1
        self._start(node)

    def _replace(self, name: str) -> None:
        """A spare process takes the place of a lost one, and a new spare is started."""
        self._gone.add(name)
        place = next((p for a, p in self._spares if self._engine.name(a) == name), None)
        if place is not None:
            self._spares = [(a, p) for a, p in self._spares if p != place]
            self._spares.append((self._started_again(place), place))
            return
        worker = next((w for w, a in enumerate(self._actors) if self._engine.name(a) == name), None)
        if worker is None:
            return
        self.losses.append(Loss(worker=worker, at=time.monotonic() - self._started, spare=bool(self._spares)))
        empty = self._places[worker]
        if self._spares:
            self._actors[worker], self._places[worker] = self._spares.pop(0)
            self._spares.append((self._started_again(empty), empty))
        else:
            self._actors[worker] = self._started_again(empty)

    def _started_again(self, place: int) -> Any:
        actor = self._engine.start(place)
        self._engine.actors.append(actor)
        for _, reference in self._codes.values():
            actor.load.remote([reference])
        return actor

