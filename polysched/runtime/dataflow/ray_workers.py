"""Worker processes from Ray, as a gang: all at once or none.  The only module that knows Ray."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from polysched.errors import RunFailedError, UsageError
from polysched.runtime.dataflow.codes import Code
from polysched.runtime.dataflow.executor import Executor
from polysched.runtime.dataflow.failure_detector import FailureDetector, Ticket, hold
from polysched.runtime.limits import LIMITS

_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_IGNORE_UNHANDLED_ERRORS": "1", "RAY_DEDUP_LOGS": "1"}
_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

Told = tuple[float, float]
"""When a node began, and how many seconds it took."""


def ray_module() -> Any:
    """Ray, without its reports to its makers.

    Raises
    ------
    UsageError : it is not installed.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise UsageError("dataflow over workers needs Ray", hint="python -m pip install 'polysched[ray]'") from None
    return ray


class RayWorkers:
    """A gang of worker processes in a Ray cluster.

    Parameters
    ----------
    count : processes; each takes one core of the cluster.
    address : of a running Ray cluster, or None: one is started on this machine.
    seconds : to wait for the gang's places.
    store : bytes of the object store of a cluster that is started here.
    lost : told the name of a process whose connection closed, in a thread of this value.

    Raises
    ------
    UsageError : Ray is not installed, or no cluster answers.
    RunFailedError : the cluster has no places for the whole gang.
    """

    def __init__(self, count: int, *, address: str | None, seconds: float, store: int,
                 lost: Callable[[str], None]) -> None:
        self.ray = ray_module()
        self._joined = not self.ray.is_initialized()
        if self._joined:
            self._join(count, address, store)
        self.actors: list[Any] = []
        self._calls: dict[tuple[str, int], Any] = {}   # a process's method for so many values, which takes time to make
        self._watched: dict[str, str] = {}             # processes by the names of their tickets
        self._detector = FailureDetector(self._host(address), lambda ticket: self._closed(ticket, lost))
        self._group = self.ray.util.placement_group([{"CPU": 1}] * count, strategy="SPREAD")
        if not self._group.wait(seconds):
            self.ray.util.remove_placement_group(self._group)
            free = self.ray.available_resources().get("CPU", 0)
            self.close()
            raise RunFailedError(f"the cluster has no places for {count} workers at once",
                                 witness=f"{free:g} cores are free", hint="fewer workers, or more machines")
        self._kind = _worker_class(self.ray)
        self.actors += [self.start(place) for place in range(count)]

    def _join(self, count: int, address: str | None, store: int) -> None:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            self.ray.init(num_cpus=count, include_dashboard=False, object_store_memory=store, **quiet)
            return
        try:
            _reach(address)
            self.ray.init(address=address, **quiet)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError("no Ray cluster answers", where=address, witness=str(error).splitlines()[0],
                             hint="`ray start --head` starts one") from None

    def _host(self, address: str | None) -> str:
        """Where processes reach this one: of machines that are not this one, by the address that Ray uses, too."""
        return "127.0.0.1" if address is None and self._joined else str(self.ray.util.get_node_ip_address())

    def _closed(self, ticket: str, lost: Callable[[str], None]) -> None:
        name = self._watched.pop(ticket, None)
        if name is not None:
            lost(name)

    def start(self, place: int) -> Any:
        """A new process at a place of the gang."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
        ticket = self._detector.ticket()
        actor = self._kind.options(scheduling_strategy=PlacementGroupSchedulingStrategy(
            placement_group=self._group, placement_group_bundle_index=place)).remote(ticket)
        self._watched[ticket.name] = self.name(actor)
        return actor

    def put(self, value: Any) -> Any:
        """A reference to a value in the object store."""
        return self.ray.put(value)

    def run(self, actor: Any, key: str, code: Any, results: int, arguments: Sequence[Any],
            done: Callable[[Told | None, Exception | None], None]) -> list[Any]:
        """Start a node; references to its values at once, and `done` is called with when it ran, or its error.

        Parameters
        ----------
        code : a reference to it, or None where the process has loaded it.
        """
        call = self._calls.get(place := (self.name(actor), results))
        if call is None:
            call = self._calls[place] = actor.run.options(num_returns=1 + results, enable_task_events=False)
        values: list[Any]
        told, *values = call.remote(key, None if code is None else [code], *arguments)

        def ended(future: Any) -> None:
            error = future.exception()
            done(None if error else future.result(), error)
        told.future().add_done_callback(ended)
        return values

    def load(self, actors: Sequence[Any], code: Any) -> list[Any]:
        """Load code on processes, and wait for it; those that have it: the others are lost."""
        sent = [(actor, actor.load.remote([code])) for actor in actors]
        loaded = []
        for actor, reference in sent:
            try:
                self.ray.get(reference)
            except self.losses:
                continue
            loaded.append(actor)
        return loaded

    def forget(self, actor: Any) -> None:
        """Drop what is kept of a lost process; if its connection alone is lost, Ray ends it, since nobody holds it."""
        self.actors.remove(actor)
        for place in [p for p in self._calls if p[0] == self.name(actor)]:
            del self._calls[place]

    def load_later(self, actor: Any, code: Any, done: Callable[[], None]) -> None:
        """Load code on a process that may not stand yet; `done` is called when it is there."""
        def ended(future: Any) -> None:
            if future.exception() is None:
                done()
        actor.load.remote([code]).future().add_done_callback(ended)

    def get(self, reference: Any) -> Any:
        """The value."""
        return self.ray.get(reference)

    def crash(self, actor: Any) -> None:
        """Kill the process, whatever it does."""
        actor.crash.remote()

    @property
    def losses(self) -> tuple[type[BaseException], ...]:
        """The errors that tell of a lost process or value."""
        from ray import exceptions
        return (exceptions.RayActorError, exceptions.ObjectLostError, exceptions.WorkerCrashedError)

    def lost_actor(self, error: BaseException) -> str | None:
        """The process whose loss an error tells of; "" where none is known; None where it is another error."""
        return str(getattr(error, "actor_id", "") or "") if isinstance(error, self.losses) else None

    @staticmethod
    def plain(error: BaseException) -> BaseException:
        """The error that code raised on a worker, without Ray's around it."""
        cause = getattr(error, "cause", None)
        return cause if isinstance(cause, BaseException) else error

    @staticmethod
    def name(actor: Any) -> str:
        """As `lost_actor` names it."""
        return str(actor._actor_id.hex())

    def close(self) -> None:
        """End the processes; a cluster that was started here ends, too."""
        self._detector.close()
        for actor in self.actors:
            self.ray.kill(actor)
        self.ray.util.remove_placement_group(self._group)
        if self._joined:
            self.ray.shutdown()


def _reach(address: str) -> None:
    """Connect once: Ray itself asks an address where nobody listens for two minutes.

    Raises
    ------
    OSError : nobody listens.
    ValueError : the port is no number of one.
    """
    place = urlsplit(address if "//" in address else f"//{address}")
    if place.hostname is not None and place.port is not None:   # else a word such as `auto`
        socket.create_connection((place.hostname, place.port), timeout=LIMITS.answer_seconds).close()


def _worker_class(ray: Any) -> Any:
    """An `Executor` as Ray's actor; a second thread can end it while a node runs."""
    class Worker:
        def __init__(self, ticket: Ticket) -> None:
            os.environ.update(_THREADS)
            sys.setswitchinterval(LIMITS.switch_seconds)
            self.executor = Executor()
            self.held = hold(ticket, seconds=LIMITS.answer_seconds)

        def load(self, code: list[Any]) -> int:
            return self.executor.load(_fetched(code))

        def run(self, key: str, code: list[Any] | None, *arguments: Any) -> Any:
            return self.executor.run(key, None if code is None else lambda: _fetched(code), arguments)

        def crash(self) -> None:
            self.executor.crash()

    Worker.crash = ray.method(concurrency_group="control")(Worker.crash)  # type: ignore[method-assign]
    return ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, concurrency_groups={"control": 1},
                      max_concurrency=LIMITS.calls_at_once,
                      allow_out_of_order_execution=True)(Worker)


def _fetched(code: list[Any]) -> Code:
    import ray
    found: Code = ray.get(code[0])
    return found
