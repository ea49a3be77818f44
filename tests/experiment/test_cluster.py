"""Measuring on the workers of a Dask cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.cli.entry import main
from polysched.experiment import Case, Settings, cluster
from polysched.experiment.case_run import CaseRequest
from polysched.experiment.record import Record, make_record, read
from polysched.measure.processes import dask_cluster
from polysched.measure.processes.isolation import Limits
from tests.cli.command import REFUSED, RUN_FAILED, is_refusal, polysched
from tests.experiment.toy import write_toy

pytest.importorskip("distributed", reason="Dask's distributed is not installed (polysched[cluster])")


def test_a_local_cluster_measures_every_case_once(tmp_path: Path) -> None:
    write_toy(tmp_path)
    log = tmp_path / "log"
    done = polysched("bench", "toy", "--cases", "one", "crash", "two", "three", "--log", str(log),
                     "--cluster", "local:2", folder=tmp_path)
    assert is_refusal(done, code=RUN_FAILED), done.stderr
    assert sorted(line.split()[0] for line in log.read_text().splitlines()) == ["crash", "one", "three", "two"]
    records = {r.case: r for r in read(tmp_path / "toy.jsonl")}
    assert {case: r.status for case, r in records.items()} == {
        "one": "done", "two": "done", "three": "done", "crash": "crashed"}
    assert all(r.machine["cores"] >= 1 for r in records.values())
    assert "| three |     5 |" in done.stdout


def test_an_address_where_nobody_answers_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    write_toy(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)   # in this process: nobody waits for the usual time
    assert main(["bench", "toy", "--cluster", "tcp://127.0.0.1:9"]) == REFUSED
    assert "no cluster answers" in capsys.readouterr().err


class Future:
    """What Dask gives back, as far as the distribution asks it."""

    def __init__(self, request: CaseRequest) -> None:
        self.request = request
        self.cancelled = False
        self.status = "finished" if request.case.name != "endless" else "pending"

    def done(self) -> bool:
        return self.status == "finished"

    def cancel(self) -> None:
        self.cancelled = True

    def result(self) -> Record:
        return make_record("toy", self.request.case, self.request.settings, status="done", problem="", values={},
                           seconds=0.0, started="")


class Client:
    """A cluster whose first worker goes away while it measures, and comes back at another address."""

    def __init__(self, workers: list[set[str]]) -> None:
        self.seen = iter(workers)
        self.last: set[str] = set()
        self.given: list[tuple[str, str]] = []

    def scheduler_info(self, *, n_workers: int) -> dict[str, dict[str, None]]:
        self.last = next(self.seen, self.last)
        return {"workers": dict.fromkeys(self.last)}

    def submit(self, function: object, request: CaseRequest, *, workers: list[str], **options: object) -> Future:
        self.given.append((request.case.name, *workers))
        return Future(request)


def requests(tmp_path: Path, *names: str) -> list[CaseRequest]:
    settings = Settings(folder=tmp_path, config={}, threads=(1,), budget_seconds=1.0, options={})
    return [CaseRequest(experiment="toy", case=Case(name=name), settings=settings, run_digest="",
                        limits=Limits(seconds=1.0, memory_bytes=1, file_bytes=1)) for name in names]


def test_a_lost_worker_costs_its_case_only_and_one_that_joins_takes_part(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask by itself would wait for ever for the one worker that the case was given to."""
    monkeypatch.setattr(dask_cluster, "POLL_SECONDS", 0.0)
    client = Client([{"a", "b"}, {"b"}, {"b", "c"}])
    records = list(cluster._distribute(client, requests(tmp_path, "endless", "one", "two", "three", "four"),
                                        lambda text: None))
    assert {r.case: r.status for r in records} == {
        "endless": "crashed", "one": "done", "two": "done", "three": "done", "four": "done"}
    assert next(r.problem for r in records if r.case == "endless") == "the worker a was lost"
    assert {worker for _, worker in client.given} == {"a", "b", "c"}


def test_without_any_worker_the_rest_is_recorded_as_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(dask_cluster, "RETURN_SECONDS", 0.0)
    records = list(cluster._distribute(Client([{"a"}, set()]), requests(tmp_path, "endless", "one"), lambda text: None))
    assert [(r.case, r.problem) for r in records] == [
        ("endless", "the worker a was lost"), ("one", "no worker was left")]
