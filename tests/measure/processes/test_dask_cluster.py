"""One item at a time on each worker; what a lost worker had is told."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from polysched.errors import UsageError
from polysched.measure.processes import dask_cluster
from polysched.measure.processes.dask_cluster import connected, distribute


class Client:
    """Workers as they are seen, one set after the other."""

    def __init__(self, seen):
        self.seen = list(seen)

    def scheduler_info(self, n_workers):
        return {"workers": dict.fromkeys(self.seen.pop(0) if len(self.seen) > 1 else self.seen[0])}


def future(value, status="finished"):
    return SimpleNamespace(done=lambda: status != "pending", status=status, cancel=lambda: None, result=lambda: value,
                           exception=lambda: value)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(dask_cluster, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(dask_cluster, "RETURN_SECONDS", 0.0)


def test_every_item_has_a_result_and_only_named_workers_get_one():
    used = []
    found = list(distribute(Client([{"a", "b"}]), [1, 2, 3], lambda item, worker: used.append(worker) or future(item),
                            only=lambda worker: worker == "a"))
    assert [(item, f.result(), problem) for item, f, problem in found] == [(1, 1, ""), (2, 2, ""), (3, 3, "")]
    assert set(used) == {"a"}


def test_what_a_lost_worker_had_is_told_and_the_others_go_on():
    statuses = {"a": "pending", "b": "finished"}
    found = list(distribute(Client([{"a", "b"}, {"b"}]), [1, 2, 3], lambda item, worker: future(
        item, statuses[worker])))
    assert sorted((item, problem) for item, _, problem in found) == [(1, "the worker a was lost"), (2, ""), (3, "")]


def test_without_workers_the_rest_is_told():
    found = list(distribute(Client([set()]), [1, 2], lambda item, worker: future(item)))
    assert [(item, problem) for item, _, problem in found] == [(1, "no worker was left"), (2, "no worker was left")]


def test_an_address_without_a_scheduler_is_refused():
    from contextlib import ExitStack
    pytest.importorskip("distributed", reason="polysched[cluster] is not installed")
    with ExitStack() as stack, pytest.raises(UsageError, match="no cluster answers"):
        connected("nonsense://x", stack, pin=False)
