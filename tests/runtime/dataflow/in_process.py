"""An engine of one thread in this process, in place of Ray: processes die where a test says so, deterministically."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import count
from threading import Event, Thread
from typing import Any

from polysched.runtime.dataflow.executor import Executor


class LostError(Exception):
    """A process is gone."""


class Reference:
    def __init__(self) -> None:
        self.there, self.value, self.error = Event(), None, None

    def set(self, value: Any, error: Exception | None) -> None:
        self.value, self.error = value, error
        self.there.set()


class Actor:
    def __init__(self, name: str) -> None:
        self.name, self.alive, self.executor = name, True, Executor()


class InProcess:
    """As `RayWorkers`.

    Parameters
    ----------
    crash_before : numbers of nodes, in the order in which they run: their process dies in place of running them.
    tells : whether a connection closes with a process, so that its loss is heard before the node's error.
    begins : when processes that are started later begin to answer; at once unless given.
    """

    crash_before: frozenset[int] = frozenset()
    tells = False
    begins: Event | None = None

    def __init__(self, count_: int, *, lost: Callable[[str], None], **_: Any) -> None:
        self.lost = lost
        self.numbers, self.names, self.tasks = count(), count(), []
        self.actors = [self.start(place) for place in range(count_)]
        self.first = tuple(self.actors)
        self.more, self.ended = Event(), False
        self.thread = Thread(target=self._work, daemon=True)
        self.thread.start()

    def start(self, place: int) -> Actor:
        return Actor(f"{place}.{next(self.names)}")

    def put(self, value: Any) -> Reference:
        made = Reference()
        made.set(deepcopy(value), None)
        return made

    def run(self, actor: Actor, key: str, code: Reference | None, results: int, arguments: Sequence[Any],
            done: Callable[[float | None, Exception | None], None]) -> list[Reference]:
        made = [Reference() for _ in range(results)]
        self.tasks.append((actor, key, code, arguments, made, done))
        self.more.set()
        return made

    def load(self, actors: Sequence[Actor], code: Reference) -> list[Actor]:
        for actor in actors:
            if actor not in self.first and self.begins:
                self.begins.wait()
            actor.executor.load(code.value)
        return list(actors)

    def load_later(self, actor: Actor, code: Reference, done: Callable[[], None]) -> None:
        def load() -> None:
            self.load([actor], code)
            done()
        if self.begins:
            Thread(target=load, daemon=True).start()
        else:
            load()

    def forget(self, actor: Actor) -> None:
        self.actors.remove(actor)

    def get(self, reference: Reference) -> Any:
        reference.there.wait()
        if reference.error:
            raise reference.error
        return reference.value

    def crash(self, actor: Actor) -> None:
        actor.alive = False

    losses = (LostError,)

    def lost_actor(self, error: BaseException) -> str | None:
        return error.args[0] if isinstance(error, LostError) else None

    @staticmethod
    def plain(error: BaseException) -> BaseException:
        return error

    @staticmethod
    def name(actor: Actor) -> str:
        return actor.name

    def close(self) -> None:
        self.ended = True
        self.more.set()
        self.thread.join()

    def _work(self) -> None:
        while not self.ended:
            self.more.wait()
            self.more.clear()
            while ready := next((t for t in list(self.tasks) if _is_ready(t)), None):
                self.tasks.remove(ready)
                self._one(*ready)

    def _one(self, actor, key, code, arguments, made, done) -> None:
        failed = next((a.error for a in arguments if isinstance(a, Reference) and a.error), None)
        values, error = (), failed
        if error is None and actor.alive and next(self.numbers) in self.crash_before:
            actor.alive = False
            if self.tells:
                self.lost(actor.name)
        if not actor.alive:
            error = LostError(actor.name)
        if error is None:
            given = tuple(a.value if isinstance(a, Reference) else a for a in arguments)
            try:
                values = actor.executor.run(key, (lambda: code.value) if code else None, given)
            except Exception as raised:
                error = raised
        for at, reference in enumerate(made):
            reference.set(None if error else values[1 + at], error)
        done(None if error else values[0], error)


def _is_ready(task: Any) -> bool:
    actor, _, _, arguments, *_ = task
    return not actor.alive or all(a.there.is_set() for a in arguments if isinstance(a, Reference))
