"""Distribute cases over the workers of a Dask cluster, one at a time on each; needs the extra `cluster`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import Any

from polysched.errors import UsageError
from polysched.experiment.case_run import CaseRequest, run_case
from polysched.experiment.record import Record, make_record, now

CONNECT_SECONDS = 15
RETURN_SECONDS = 30
POLL_SECONDS = 0.25
LOCAL = re.compile(r"local(?::([1-9]\d*))?")


def run_on_cluster(requests: Sequence[CaseRequest], address: str, *,
                   on_start: Callable[[str], None]) -> Iterator[Record]:
    """Measure all cases on a cluster; records come as they are done, with the machine of the worker that did it.

    A case whose worker is lost becomes a record that says so; the other workers go on.

    Parameters
    ----------
    address : of the scheduler, `tcp://host:port`; `local` or `local:N` starts N worker processes on this machine.

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
    with ExitStack() as stack:
        client = _client(address, stack, pin=any(r.settings.pin for r in requests))
        if not _workers(client):
            raise UsageError("the cluster has no worker", where=address, hint="start one: dask worker ADDRESS")
        yield from _distribute(client, list(requests), on_start)


def _distribute(client: Any, waiting: list[CaseRequest], on_start: Callable[[str], None]) -> Iterator[Record]:
    """Give every idle worker a case until none is left; a worker that joins later takes part, one that goes is missed.

    Dask itself would wait for ever for a case whose only allowed worker is gone.
    """
    running: dict[str, tuple[CaseRequest, Any]] = {}
    last_seen = time.monotonic()
    while waiting or running:
        alive = _workers(client)
        last_seen = time.monotonic() if alive else last_seen
        for worker in [w for w in running if w not in alive]:
            request, future = running.pop(worker)
            future.cancel()
            yield _lost(request, f"the worker {worker} was lost")
        for worker in sorted(alive - running.keys()):
            if waiting:
                running[worker] = (waiting[0], _submit(client, waiting.pop(0), worker, on_start))
        if not running and time.monotonic() - last_seen > RETURN_SECONDS:
            yield from (_lost(request, "no worker was left") for request in waiting)
            return
        time.sleep(POLL_SECONDS)
        for worker in [w for w, (_, future) in running.items() if future.done()]:
            request, future = running.pop(worker)
            yield _outcome(future, request, worker)


def _workers(client: Any) -> set[str]:
    """The addresses of the workers that the scheduler sees now."""
    return set(client.scheduler_info(n_workers=-1)["workers"])


def _submit(client: Any, request: CaseRequest, worker: str, on_start: Callable[[str], None]) -> Any:
    on_start(f"{request.case.name} on {worker}")
    return client.submit(run_case, request, workers=[worker], allow_other_workers=False, pure=False, retries=0)


def _client(address: str, stack: ExitStack, *, pin: bool) -> Any:
    """A client of the cluster at the address, or of one that lives as long as the stack."""
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


def _outcome(future: Any, request: CaseRequest, worker: str) -> Record:
    """The record of a case that its worker ended."""
    if future.status == "finished":
        record: Record = future.result()
        return record
    error = future.exception()
    if isinstance(error, UsageError):
        raise error
    return _lost(request, f"the worker {worker} was lost: {error}")


def _lost(request: CaseRequest, problem: str) -> Record:
    """A record of a case that no worker finished; the machine is the one that asked."""
    settings = replace(request.settings)
    return make_record(request.experiment, request.case, settings, status="crashed", problem=problem, values={},
                       seconds=0.0, started=now())
