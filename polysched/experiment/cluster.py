"""Distribute cases over the workers of a Dask cluster, one at a time on each; needs the extra `cluster`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from polysched.errors import UsageError
from polysched.experiment.case_run import CaseRequest, run_case
from polysched.experiment.record import Record, make_record, now
from polysched.measure.processes.dask_cluster import connected, distribute


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
    with ExitStack() as stack:
        client = connected(address, stack, pin=any(r.settings.pin for r in requests))
        yield from _distribute(client, requests, on_start)


def _distribute(client: Any, requests: Sequence[CaseRequest], on_start: Callable[[str], None]) -> Iterator[Record]:
    """A record per case, as they end."""
    def submit(request: CaseRequest, worker: str) -> Any:
        on_start(f"{request.case.name} on {worker}")
        return client.submit(run_case, request, workers=[worker], allow_other_workers=False, pure=False, retries=0)

    for request, future, problem in distribute(client, requests, submit):
        yield _outcome(future, request, problem)


def _outcome(future: Any, request: CaseRequest, problem: str) -> Record:
    """The record of a case that its worker ended."""
    if not problem:
        record: Record = future.result()
        return record
    error = future.exception() if future is not None else None
    if isinstance(error, UsageError):
        raise error
    return _lost(request, problem)


def _lost(request: CaseRequest, problem: str) -> Record:
    """A record of a case that no worker finished; the machine is the one that asked."""
    settings = replace(request.settings)
    return make_record(request.experiment, request.case, settings, status="crashed", problem=problem, values={},
                       seconds=0.0, started=now())
