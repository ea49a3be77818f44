"""Distribute cases over the workers of a Dask cluster, one at a time on each; needs the extra `cluster`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from polysched.errors import UsageError
from polysched.experiment.case_run import CaseRequest, run_case
from polysched.experiment.record import Record, make_record, now

CONNECT_SECONDS = 15
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
        from distributed import as_completed
    except ImportError:
        raise UsageError("measuring on a cluster needs Dask",
                         hint="python -m pip install 'polysched[cluster]'") from None
    with ExitStack() as stack:
        client = _client(address, stack)
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise UsageError("the cluster has no worker", where=address, hint="start one: dask worker ADDRESS")
        waiting, running, pending = list(requests), {}, as_completed()

        def give_to(worker: str) -> None:
            if waiting:
                request = waiting.pop(0)
                on_start(f"{request.case.name} on {worker}")
                future = client.submit(run_case, request, workers=[worker], allow_other_workers=False, pure=False,
                                       retries=0)
                running[future.key] = (request, worker)
                pending.add(future)
        for worker in workers:
            give_to(worker)
        for future in pending:
            request, worker = running.pop(future.key)
            record, alive = _outcome(future, request, worker)
            yield record
            if alive:
                give_to(worker)
        for request in waiting:
            yield _lost(request, "no worker was left")


def _client(address: str, stack: ExitStack) -> Any:
    """A client of the cluster at the address, or of one that lives as long as the stack."""
    from distributed import Client, LocalCluster
    local = LOCAL.fullmatch(address)
    if local is not None:
        cluster = stack.enter_context(LocalCluster(
            n_workers=int(local[1] or 1), threads_per_worker=1, processes=True, dashboard_address=None,
            memory_limit=None))
        return stack.enter_context(Client(cluster))
    try:
        return stack.enter_context(Client(address, timeout=CONNECT_SECONDS))
    except (OSError, ValueError) as error:
        raise UsageError(f"no cluster answers: {error}", where=address,
                         hint="the address of a scheduler (tcp://host:port), or local") from None


def _outcome(future: Any, request: CaseRequest, worker: str) -> tuple[Record, bool]:
    """The record of a finished case, and whether its worker can take another one."""
    from distributed import KilledWorker
    if future.status == "finished":
        return future.result(), True
    error = future.exception()
    if isinstance(error, UsageError):
        raise error
    return _lost(request, f"the worker {worker} was lost: {error}"), not isinstance(error, KilledWorker)


def _lost(request: CaseRequest, problem: str) -> Record:
    """A record of a case that no worker finished; the machine is the one that asked."""
    settings = replace(request.settings)
    return make_record(request.experiment, request.case, settings, status="crashed", problem=problem, values={},
                       seconds=0.0, started=now())
