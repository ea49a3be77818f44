"""A Dask cluster: a client of it, its workers, and one task at a time on each; needs the extra `cluster`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any, TypeVar

from polysched.errors import UsageError

T = TypeVar("T")
CONNECT_SECONDS = 15
RETURN_SECONDS = 30
POLL_SECONDS = 0.25
LOCAL = re.compile(r"local(?::([1-9]\d*))?")


def connected(address: str, stack: ExitStack, *, pin: bool) -> Any:
    """A client of the cluster at an address, or of one that lives as long as the stack.

    Parameters
    ----------
    address : of the scheduler, `tcp://host:port`; `local` or `local:N` starts N worker processes on this machine.
    pin : threads are bound to cores, which several workers of one machine would share.

    Raises
    ------
    UsageError : Dask is not installed, nothing answers at the address, or the cluster has no worker.
    """
    try:
        import dask
        dask.config.set({"logging.distributed": "error"})   # read when distributed is imported
        import_module("distributed")
    except ImportError:
        raise UsageError("measuring on a cluster needs Dask",
                         hint="python -m pip install 'polysched[cluster]'") from None
    client = _client(address, stack, pin=pin)
    if not workers_of(client):
        raise UsageError("the cluster has no worker", where=address, hint="start one: dask worker ADDRESS")
    return client


def workers_of(client: Any) -> set[str]:
    """The addresses of the workers that the scheduler sees now."""
    return set(client.scheduler_info(n_workers=-1)["workers"])


def distribute(client: Any, items: Sequence[T], submit: Callable[[T, str], Any], *,
               only: Callable[[str], bool] = lambda worker: True) -> Iterator[tuple[T, Any, str]]:
    """Give every idle worker an item until none is left; each item with its result, in the order in which they end.

    A worker that joins later takes part.  Dask itself would wait for ever for a task whose only allowed worker is gone.

    Parameters
    ----------
    submit : starts an item on a worker; its future.
    only : whether a worker takes part; asked of every one that is seen.

    Yields
    ------
    item, future, problem : the problem is why there is no result; empty where the future is done.
    """
    waiting, running = list(items), dict[str, tuple[T, Any]]()
    last_seen = time.monotonic()
    while waiting or running:
        alive = {worker for worker in workers_of(client) if only(worker)}
        last_seen = time.monotonic() if alive else last_seen
        yield from _lost(running, alive)
        for worker in sorted(alive - running.keys()):
            if waiting:
                running[worker] = (waiting[0], submit(waiting.pop(0), worker))
        if not running and time.monotonic() - last_seen > RETURN_SECONDS:
            yield from ((item, None, "no worker was left") for item in waiting)
            return
        time.sleep(POLL_SECONDS)
        yield from _ended(running)


def _lost(running: dict[str, tuple[T, Any]], alive: set[str]) -> Iterator[tuple[T, Any, str]]:
    """What workers had that are gone."""
    for worker in [w for w in running if w not in alive]:
        item, future = running.pop(worker)
        future.cancel()
        yield item, None, f"the worker {worker} was lost"


def _ended(running: dict[str, tuple[T, Any]]) -> Iterator[tuple[T, Any, str]]:
    """What workers are done with."""
    for worker in [w for w, (_, future) in running.items() if future.done()]:
        item, future = running.pop(worker)
        lost = "" if future.status == "finished" else f"the worker {worker} was lost: {future.exception()}"
        yield item, future, lost


def _client(address: str, stack: ExitStack, *, pin: bool) -> Any:
    from distributed import Client, LocalCluster
    local = LOCAL.fullmatch(address)
    if local is not None:
        if pin and int(local[1] or 1) > 1:
            raise UsageError("several workers on one machine would be bound to the same cores", where=address,
                             hint="leave out --pin, or take --cluster local")
        cluster = stack.enter_context(LocalCluster(
            n_workers=int(local[1] or 1), threads_per_worker=1, processes=True, dashboard_address=None,
            memory_limit=None))
        return stack.enter_context(Client(cluster))
    try:
        return stack.enter_context(Client(address, timeout=CONNECT_SECONDS))
    except (OSError, ValueError) as error:
        raise UsageError(f"no cluster answers: {error}", where=address,
                         hint="the address of a scheduler (tcp://host:port), or local") from None
