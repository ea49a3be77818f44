"""Each kind of machine of a cluster has a search of its own, all at once; only here something is written."""

from __future__ import annotations

import itertools
import shutil
import threading
from dataclasses import replace

import pytest

from polysched.errors import RunFailedError, UsageError
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.search import Database, tuning
from polysched.search.identity import place_of
from polysched.search.packages import machines
from polysched.search.packages.machines import kind_here, tune_machines
from polysched.search.tuning import Budget
from polysched.target import find_compiler, host
from tests.search.programs import OPTIONS, PRODUCT

MEASURE = MeasureOptions(flags=("-O1",))
NARROW, WIDE = "narrow", "wide"


class Future:
    """A task that ends when its worker is let go on."""

    def __init__(self, ran: Ran) -> None:
        self.ran, self.polls, self.status = ran, 0, "finished"

    def done(self) -> bool:
        self.polls += 1
        return self.polls > 1

    def result(self) -> Ran:
        return self.ran

    def cancel(self) -> None:
        pass


class Client:
    """A cluster of machines whose vectors are narrow or wide; on narrow ones every candidate takes twice as long."""

    def __init__(self, **workers: str) -> None:
        self.workers = workers
        self.judged: list[tuple[str, str]] = []
        self.threads: set[str] = set()
        self.at_once: list[set[str]] = []

    def scheduler_info(self, n_workers):
        return {"workers": dict.fromkeys(self.workers)}

    def run(self, function, *arguments, workers, on_error):
        return {worker: self.kind(self.workers[worker], function.__name__) for worker in workers}

    def kind(self, kind: str, asked: str):
        if kind == "bare":
            return "there is no C compiler"
        bits = {NARROW: 128, WIDE: 256}[kind]
        target = replace(host(), cores=1, vector_bits=bits)
        here = place_of(OPTIONS, find_compiler(), threads=1, flags=MEASURE.flags)
        place = replace(here, machine=f'["{kind}", [], 1]')
        return (place, target) if asked == "kind_here" else place.text

    def submit(self, judge, errand, *, workers, **how):
        (worker,) = workers
        kind = self.workers[worker]
        self.judged.append((kind, errand.candidate[1]))
        self.threads.add(threading.current_thread().name)
        self.at_once.append({kind for kind, _ in self.judged[-2:]})
        if kind == "broken":
            raise RunFailedError("it broke")
        own = 1.0 if errand.against is None else 0.5
        return Future(Ran(name=errand.candidate[0], verdict=Verdict.TIMED, spills=0,
                          pairs=tuple((1.0, own * (1 + 0.001 * k)) for k in range(errand.pairs))))


@pytest.fixture
def file(tmp_path):
    (tmp_path / "product.c").write_text(PRODUCT)
    return tmp_path / "product.c"


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(tuning, "LIMITS", replace(tuning.LIMITS, first_generation=64, generation=16))
    def of(**workers: str) -> Client:
        client = Client(**workers)
        monkeypatch.setattr(machines, "connected", lambda address, stack, pin: client)
        monkeypatch.setattr("polysched.measure.processes.dask_cluster.POLL_SECONDS", 0.0)
        return client
    return of


def searched(file, **others):
    return tune_machines(file, cluster="there", sizes={"n": 64}, measure=MEASURE, options=OPTIONS,
                         budget=Budget(trials=2), **others)


def test_each_kind_is_searched_with_code_of_its_own(cluster, file, tmp_path):
    client, told = cluster(a=WIDE, b=NARROW, c=WIDE), []
    found = searched(file, database=tmp_path / "tuned.db", on_trial=lambda trial, count: told.append(count))
    assert [kind.workers for kind in found.kinds] == [("a", "c"), ("b",)]
    assert [found.found[k].gain.median > 1.5 for k in (0, 1)] == [True, True]
    texts = {kind: {text for own, text in client.judged if own == kind} for kind in (NARROW, WIDE)}
    assert "vector_size(16)" in "".join(texts[NARROW])
    assert "vector_size(32)" not in "".join(texts[NARROW])
    assert "vector_size(32)" in "".join(texts[WIDE])
    assert told == list(range(1, 5)), "trials are counted over both"
    assert len(client.threads) == 2
    assert any(len(kinds) == 2 for kinds in client.at_once), "one search goes on while the workers of another judge"
    with Database(tmp_path / "tuned.db") as database:
        kept = {winner.key.place.machine for winner in database.winners()}
    assert kept == {f'["{kind}", [], 1]' for kind in (NARROW, WIDE)}
    assert str(found).startswith("wide, 1 cores, 1 threads, ")
    assert found.to_json()["trials"] == 4
    assert [m["workers"] for m in found.to_json()["machines"]] == [2, 1]


def test_a_kind_that_cannot_be_searched_is_named_and_the_others_go_on(cluster, file, monkeypatch):
    cluster(a=WIDE, b=NARROW, c="bare")
    turned = itertools.count()

    def tune(*arguments, **how):
        if next(turned):
            raise RunFailedError("it broke")
        return plain(*arguments, **how)

    plain = machines.tune
    monkeypatch.setattr(machines, "tune", tune)
    found = searched(file)
    assert list(found.found) == [0]
    assert found.refused == {1: "it broke"}
    assert "not tuned: it broke" in str(found)
    assert found.to_json()["machines"][1] == {**found.to_json()["machines"][1], "refused": "it broke", "found": None}


def test_where_every_kind_is_refused_the_first_refusal_is_the_users(cluster, file, monkeypatch):
    cluster(a=WIDE)
    monkeypatch.setattr(machines, "tune", lambda *arguments, **how: (_ for _ in ()).throw(RunFailedError("it broke")))
    with pytest.raises(RunFailedError, match="it broke"):
        searched(file)


def test_a_fault_of_a_search_is_raised_where_it_was_called(cluster, file, monkeypatch):
    cluster(a=WIDE)
    monkeypatch.setattr(machines, "tune", lambda *arguments, **how: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        searched(file)


def test_workers_without_a_compiler_are_no_kind(cluster, file):
    cluster(a="bare")
    with pytest.raises(UsageError, match="no worker can compile") as refusal:
        searched(file)
    assert refusal.value.witness == "there is no C compiler"


def test_the_kind_of_this_machine():
    answer = kind_here(OPTIONS, 3, ("-O1",))
    assert not isinstance(answer, str)
    assert (answer[0].threads, answer[1].cores) == (3, 3)
    refused = kind_here(replace(OPTIONS, source=replace(OPTIONS.source, cc="no-such-compiler")), None, ())
    assert isinstance(refused, str)


@pytest.mark.campaign   # workers take long to start
@pytest.mark.skipif(shutil.which("clang-19") is None, reason="no second compiler is installed")
def test_workers_with_two_compilers_are_two_kinds(file, tmp_path):
    distributed = pytest.importorskip("distributed", reason="polysched[cluster] is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  memory_limit=None) as workers, distributed.Client(workers) as client:
        first = sorted(client.scheduler_info(n_workers=-1)["workers"])[0]
        client.run(exec, "import os\nos.environ['CC'] = 'clang-19'", workers=[first])
        found = tune_machines(file, cluster=workers.scheduler_address, sizes={"n": 48}, options=OPTIONS,
                              measure=MEASURE, threads=1, budget=Budget(trials=3), database=tmp_path / "tuned.db")
    compilers = sorted(kind.place.compiler.split()[0] for kind in found.kinds)
    assert compilers == ["clang", "gcc"]
    assert all(found.found[k].first.verdict is Verdict.TIMED for k in (0, 1))
