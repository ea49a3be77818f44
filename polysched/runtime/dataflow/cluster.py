"""`Cluster`: sends nodes to workers, and sends them again where a worker is lost.

A node's values live in the object stores of the machines, not in the process that computed them.  So a lost process
costs the node that it ran, and nothing that was done.  A spare process, with all code loaded, takes its place as soon
as the lost one's connection closes.  Nodes that were sent ahead fail with it, and are sent again with the new
references; nobody who holds a future sees it.  The next spare process is started when no node is pending:
its start takes a core.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Sequence
from functools import partial
from threading import RLock, Thread
from typing import Any

from polysched.errors import RunFailedError, UsageError
from polysched.records import dataclass
from polysched.runtime.dataflow.codes import Code, FunctionCode
from polysched.runtime.dataflow.given import copied, is_fixed, is_small
from polysched.runtime.dataflow.nodes import Future, Node, timed_out
from polysched.runtime.dataflow.program import Program
from polysched.runtime.dataflow.ray_workers import RayWorkers, Told
from polysched.runtime.dataflow.sent_ahead import SentAhead
from polysched.runtime.limits import LIMITS

NOTHING = FunctionCode(function=abs, key="nothing")
"""Code to load where a process is only to answer."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A worker that was lost.

    Parameters
    ----------
    worker : its place.
    at : seconds since the cluster started.
    spare : whether a spare process took its place at once; otherwise a new one was started.
    heard : "connection" where its connection closed, "engine" where Ray told of it first.
    """

    worker: int
    at: float
    spare: bool
    heard: str


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
    """A value as it was when it was put: itself where it is small, otherwise a reference into the object store."""

    held: Any


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A node ended: with when it ran, or with an error."""

    node: Node
    attempt: int
    told: Told | None
    error: Exception | None


@dataclass(frozen=True, kw_only=True)
class Closed:
    """The connection of a process closed, or, without a name, nothing happened for a while."""

    actor: str | None


class Cluster:
    """A gang of workers, and the programs that share it; a context manager.

    Parameters
    ----------
    workers : processes that run nodes.
    spares : further ones that wait to take the place of a lost one.
    address : of a running Ray cluster; None starts one on this machine that ends with this value.
    seconds : to wait for the places of all processes.
    spare_seconds : that a missing spare process is not started while nodes are pending; 0 starts it at once.

    Raises
    ------
    UsageError : a number is out of its range, Ray is not installed, or no cluster answers.
    RunFailedError : the cluster has no places for all of them at once.
    """

    def __init__(self, *, workers: int = 2, spares: int = 1, address: str | None = None, seconds: float = 60.0,
                 spare_seconds: float = LIMITS.spare_seconds) -> None:
        if not 1 <= workers <= LIMITS.most_cluster_workers or not 0 <= spares <= LIMITS.most_cluster_workers:
            raise UsageError(f"a cluster has 1 to {LIMITS.most_cluster_workers} workers, and 0 or more spares",
                             witness=f"{workers} and {spares}")
        if not 0 <= spare_seconds <= LIMITS.most_seconds:
            raise UsageError(f"a missing spare process waits 0 to {LIMITS.most_seconds:g} seconds",
                             witness=repr(spare_seconds))
        self.workers = workers
        self.losses: list[Loss] = []
        self.ran: list[Ran] = []
        self.sent_again = 0
        self.spare_seconds = spare_seconds
        self._events: queue.SimpleQueue[Ended | Closed | None] = queue.SimpleQueue()
        self._engine = RayWorkers(workers + spares, address=address, seconds=seconds, store=LIMITS.store_bytes,
                                  lost=lambda name: self._events.put(Closed(actor=name)))
        actors = list(self._engine.actors)
        self._actors = actors[:workers]
        self._places = dict(enumerate(range(workers)))
        self._spares = [(actor, workers + at) for at, actor in enumerate(actors[workers:])]
        self._missing: list[tuple[int, float]] = []   # places of spare processes to be started, and since when
        self._gone: set[str] = set()
        self._codes: dict[str, tuple[Code, Any]] = {}
        self._loaded: set[tuple[str, str]] = set()     # processes by name, with the keys of code
        self._starting: set[str] = set()               # processes that were started again, and did not answer yet
        self._pending: dict[Node, None] = {}   # sent, and not ended
        self._ahead = SentAhead()
        self._closed = False
        self._over: Exception | None = None    # why no node is sent any more
        self._lock = RLock()
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
        """End the workers; results that nobody fetched are gone, and whoever waits for one is told."""
        if self._closed:
            return
        self._closed = True
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
        """Bring code to all processes, spare ones too, and wait.

        A spare process that is being started loads the code when it answers, and nobody waits: that may take seconds.
        """
        self._load(codes, all_spares=False)

    def _load(self, codes: Iterable[Code], *, all_spares: bool) -> None:
        for code in codes:
            with self._lock:
                reference = self._reference(code)
                actors = [a for a in self._standing() if (self._engine.name(a), code.key) not in self._loaded]
                later = [] if all_spares else [a for a, _ in self._spares if self._engine.name(a) in self._starting]
            for actor in actors:
                if actor in later:
                    self._load_later(actor, code.key, reference)
            now = [a for a in actors if a not in later]
            for actor in self._engine.load(now, reference) if now else []:
                self._has_loaded(self._engine.name(actor), code.key)

    def refill(self) -> None:
        """Start the spare processes that are missing, and wait until all code is loaded on all processes."""
        with self._lock:
            self._start_spares(0.0)
            codes = [code for code, _ in self._codes.values()]
        self._load(codes or [NOTHING], all_spares=True)

    def put(self, value: Any) -> Put:
        """A value as it is now, to be passed to nodes: in the object store, unless it is small."""
        if is_small(value, LIMITS.inline_bytes):
            return Put(held=copied(value))
        return Put(held=self._engine.put(value))

    def kept(self, arguments: Iterable[Any]) -> tuple[Any, ...]:
        """Arguments of a node as they are now: it may be sent again when the caller has changed them."""
        return tuple(a if isinstance(a, (Future, Put)) or is_fixed(a) else self.put(a) for a in arguments)

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
        if node.given or node.ended.is_set():
            return
        if self._over is not None:
            raise self._over
        for before in node.inputs:
            self._send(before)
        node.given = True
        self._ahead.add(node)
        self._send_waiting(node)

    def _send_waiting(self, asked: Node | None = None) -> None:
        """Send what waits and fits.

        Parameters
        ----------
        asked : its caller waits, and is told at once where it cannot be sent; of another node its futures tell.
        """
        for node in self._ahead.ready():
            try:
                self._start_unless_in_vain(node)
            except Exception as error:   # of packing what the node takes
                if node is asked:
                    node.given = False
                    raise
                self._fail(node, error)

    def _start_unless_in_vain(self, node: Node) -> bool:
        """Send a node, unless an input failed; whether it was sent."""
        failed = next((n.error for n in node.inputs if n.error is not None), None)
        if failed is not None:
            self._fail(node, failed)
            return False
        self._start(node)
        return True

    def _start(self, node: Node) -> None:
        actor = self._actors[node.worker]
        node.attempt += 1
        node.actor = self._engine.name(actor)
        attempt = node.attempt
        arguments = [a.node.references[a.at] if isinstance(a, Future) else a.held if isinstance(a, Put) else a
                     for a in node.arguments]
        code = None if (node.actor, node.code.key) in self._loaded else self._reference(node.code)
        node.references = self._engine.run(
            actor, node.code.key, code, node.code.results, arguments,
            lambda told, error: self._events.put(Ended(node=node, attempt=attempt, told=told, error=error)))
        if node not in self._pending:    # now: what cannot be sent is not sent again either
            self._pending[node] = None
            self._ahead.sent(node)

    def _reference(self, code: Code) -> Any:
        if code.key not in self._codes:
            self._codes[code.key] = code, self._engine.put(code)
        return self._codes[code.key][1]

    def _watch(self) -> None:
        """The thread that hears of ends and losses; where it ends, nobody waits any longer."""
        over: Exception = RunFailedError("the cluster was closed")
        try:
            while (event := self._event()) is not None:
                with self._lock:
                    if isinstance(event, Closed):
                        self._lost(event.actor, "connection")
                    elif event.node.attempt == event.attempt and not event.node.ended.is_set():
                        self._ended(event.node, event.told, event.error)
                    self._send_waiting()
                    self._start_spares(self.spare_seconds)
        except Exception as error:   # the engine's: it starts or sends nothing more
            over = error
        with self._lock:
            self._over = over
            for node in [*self._pending, *self._ahead.rest()]:
                self._fail(node, over)

    def _event(self) -> Ended | Closed | None:
        """The next event; one without a name where a missing spare process has waited long enough."""
        try:
            return self._events.get(timeout=self.spare_seconds if self._missing else None)
        except queue.Empty:
            return Closed(actor=None)

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
        self._lost(lost, "engine")
        if node.attempt == attempt and not node.ended.is_set():
            self._again(node)

    def _lost(self, name: str | None, heard: str) -> None:
        """A process is gone: another one takes its place, and what it was to do."""
        if name is None or name in self._gone:
            return
        running = next((n for n in self._pending if n.actor == name and all(i.done for i in n.inputs)), None)
        if running is not None:   # the first that could run: nodes run in the order in which they were sent
            running.suspected += 1
        self._replace(name, heard)
        self._send_doomed_again()

    def _fail(self, node: Node, error: BaseException) -> None:
        node.error = error
        self._end(node)

    def _end(self, node: Node) -> None:
        node.arguments = ()   # what it took may be dropped now
        self._pending.pop(node, None)
        self._ahead.ended(node)
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
        if node.suspected >= LIMITS.most_losses:
            self._fail(node, RunFailedError(
                f"a worker was lost {node.suspected} times while it ran a node", where=node.program,
                witness=f"worker {node.worker}", hint="its code may crash the process"))
            return
        self.sent_again += self._start_unless_in_vain(node)

    def _replace(self, name: str, heard: str) -> None:
        """A spare process takes the place of a lost one; without a spare one, a new one is started."""
        self._gone.add(name)
        lost = next((a for a in self._standing() if self._engine.name(a) == name), None)
        if lost is None:
            return
        self._engine.forget(lost)
        place = next((p for a, p in self._spares if a is lost), None)
        if place is not None:
            self._spares = [(a, p) for a, p in self._spares if a is not lost]
            self._missing.append((place, time.monotonic()))
            return
        worker = self._actors.index(lost)
        self.losses.append(Loss(worker=worker, at=time.monotonic() - self._started, spare=bool(self._spares),
                                heard=heard))
        empty = self._places[worker]
        if self._spares:
            self._actors[worker], self._places[worker] = self._spares.pop(0)
            self._missing.append((empty, time.monotonic()))
        else:
            self._actors[worker] = self._started_again(empty)

    def _standing(self) -> list[Any]:
        """The processes that are there, or are being started."""
        return [*self._actors, *(actor for actor, _ in self._spares)]

    def _start_spares(self, seconds: float) -> None:
        """Start missing spare processes where no node is pending, or where they have been missing for so long."""
        for place, since in list(self._missing):
            if not self._pending or time.monotonic() - since >= seconds:
                self._missing.remove((place, since))
                self._spares.append((self._started_again(place), place))

    def _started_again(self, place: int) -> Any:
        actor = self._engine.start(place)
        self._engine.actors.append(actor)
        self._starting.add(self._engine.name(actor))
        for key, (_, reference) in self._codes.items():
            self._load_later(actor, key, reference)
        return actor

    def _load_later(self, actor: Any, key: str, reference: Any) -> None:
        self._engine.load_later(actor, reference, partial(self._has_loaded, self._engine.name(actor), key))

    def _has_loaded(self, name: str, key: str) -> None:
        self._loaded.add((name, key))
        self._starting.discard(name)
