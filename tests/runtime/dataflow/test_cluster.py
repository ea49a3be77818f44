"""Workers die before every node in turn; nothing is lost, and at most one node runs twice."""

import time
from threading import Event, Thread

import numpy as np
import pytest

from polysched.errors import RunFailedError, UsageError
from polysched.runtime.dataflow import Cluster, FunctionCode, Future
from polysched.runtime.dataflow.cluster import Closed

ADD = FunctionCode(function=lambda x, y: x + y)
SPLIT = FunctionCode(function=lambda x: (x[:2], x[2:]), results=2)


def diamond(cluster: Cluster) -> np.ndarray:
    """Ten nodes on two workers, sent before any has a value."""
    program = cluster.program("diamond")
    x = np.arange(4.0)
    for _ in range(3):
        low, high = program.call(SPLIT, x, worker=0)
        other = program.call(ADD, high, 1.0, worker=1)
        x = program.call(FunctionCode(function=lambda a, b: np.concatenate([b, a])), low, other, worker=0)
    return program.call(ADD, x, x, worker=1).result(30)


def test_a_process_that_dies_before_any_node_costs_nothing_that_was_done(in_process) -> None:
    expected = diamond(in_process())
    for number in range(10):
        cluster = in_process(crash_before={number})
        assert diamond(cluster).tobytes() == expected.tobytes()
        assert [(loss.worker, loss.spare) for loss in cluster.losses] == [(0 if number % 3 != 1 and number < 9 else 1,
                                                                         True)]
        assert cluster.sent_again >= 1


def test_several_processes_die_one_after_the_other(in_process) -> None:
    cluster = in_process(crash_before={1, 4, 8}, spares=1)
    assert diamond(cluster).tobytes() == diamond(in_process()).tobytes()
    assert len(cluster.losses) == 3
    assert "3 lost" in repr(cluster)


def test_without_a_spare_a_new_process_is_started(in_process) -> None:
    cluster = in_process(spares=0, crash_before={2})
    assert diamond(cluster).tobytes() == diamond(in_process()).tobytes()
    assert not cluster.losses[0].spare


def test_a_spare_that_dies_is_replaced(in_process) -> None:
    cluster = in_process(crash_before={0})
    spare = cluster._spares[0][0]
    spare.alive = False
    program = cluster.program("p")
    assert program.call(ADD, 1, 2).result(30) == 3
    assert len(cluster.losses) == 2


def test_code_that_ends_its_process_is_given_up(in_process) -> None:
    cluster = in_process(crash_before=range(100))
    program = cluster.program("bad")
    first = program.call(ADD, 1, 2)
    then = program.call(ADD, first, 2, worker=1)
    with pytest.raises(RunFailedError, match="lost 3 times while it ran a node"):
        first.result(30)
    with pytest.raises(RunFailedError, match="lost 3 times"):
        then.result(30)


def test_an_error_of_code_reaches_who_asks_and_who_depends(in_process) -> None:
    cluster = in_process()
    program = cluster.program("p")
    bad = program.call(ADD, "a", 1)
    then = program.call(ADD, bad, 1, worker=1)
    with pytest.raises(TypeError):
        bad.result(30)
    with pytest.raises(TypeError):
        then.result(30)
    assert not cluster.losses
    assert program.call(ADD, 1, 1).result(30) == 2


def test_after_a_loss_no_node_is_sent_again_twice(in_process) -> None:
    cluster = in_process(workers=3, crash_before={2})
    program = cluster.program("p")
    wide = [program.call(ADD, 0, n, worker=n) for n in range(3)]
    for at in range(40):
        wide = [program.call(ADD, wide[n], wide[(n + at) % 3], worker=n) for n in range(3)]
    found = [f.result(30) for f in wide]
    plain = in_process(workers=3).program("p")
    wide = [plain.call(ADD, 0, n, worker=n) for n in range(3)]
    for at in range(40):
        wide = [plain.call(ADD, wide[n], wide[(n + at) % 3], worker=n) for n in range(3)]
    assert found == [f.result(30) for f in wide]
    assert cluster.sent_again <= 3 * 41


def test_values_that_were_done_are_not_computed_again(in_process) -> None:
    ran = []
    code = FunctionCode(function=lambda x: ran.append(x) or x)
    code.load()
    cluster = in_process(crash_before={3})
    program = cluster.program("p")
    note = FunctionCode(function=lambda x: x + 1)
    x = 0
    for at in range(6):
        x = program.call(note, x, worker=at % 2)
    assert x.result(30) == 6
    assert cluster.sent_again == 3   # the one that ran, and two that were sent ahead; the three before stay
    assert x.node.attempt == 2


@pytest.mark.parametrize(("workers", "spares"), [(0, 0), (1, -1), (100000, 0)])
def test_numbers_are_checked(workers: int, spares: int) -> None:
    with pytest.raises(UsageError, match="a cluster has 1 to"):
        Cluster(workers=workers, spares=spares)


@pytest.mark.parametrize("workers", [(), (2,), (-1,), (0, 0)])
def test_a_program_runs_on_workers_that_are_there(in_process, workers) -> None:
    with pytest.raises(UsageError, match="different workers from 0 to 1"):
        in_process().program("p", workers)


def gated(cluster: Cluster, gate: Event, value: int = 0) -> Future:
    """A node that waits for a gate."""
    return cluster.program("gate").call(FunctionCode(function=lambda x: (gate.wait(30), x)[1]), value)


def test_arguments_are_as_they_were_when_they_were_given(in_process) -> None:
    cluster, gate = in_process(crash_before={1}), Event()
    behind, array, listed = gated(cluster, gate), np.ones(3), [1]
    large = np.ones(100_000)
    program = cluster.program("p")
    ends = [program.call(ADD, behind, value, worker=1) for value in (array, large)]
    length = program.call(FunctionCode(function=lambda a, b: a + len(b)), behind, listed, worker=1)
    put = program.call(ADD, behind, program.put(array), worker=1)
    array[:] = large[:] = 9
    listed.append(2)
    gate.set()
    assert [f.result(30).max() for f in ends] == [1, 1]
    assert length.result(30) == 1
    assert (put.result(30) == 1).all()
    assert len(cluster.losses) == 1


def test_nodes_that_only_wait_are_not_blamed_for_losses(in_process) -> None:
    cluster = in_process(crash_before={3, 5, 9, 14, 20, 21})
    program = cluster.program("wide")
    ends = [program.call(ADD, n, 1) for n in range(40)]
    assert [f.result(30) for f in ends] == list(range(1, 41))
    assert len(cluster.losses) == 6


@pytest.mark.parametrize("tells", [False, True])
def test_who_heard_of_a_loss_is_said(in_process, tells: bool) -> None:
    expected = diamond(in_process())
    for number in range(0, 10, 3):
        cluster = in_process(crash_before={number}, tells=tells)
        assert diamond(cluster).tobytes() == expected.tobytes()
        assert [loss.heard for loss in cluster.losses] == ["connection" if tells else "engine"]


def test_a_new_spare_process_waits_until_no_node_is_pending(in_process) -> None:
    cluster, gate = in_process(crash_before={0}, tells=True, spare_seconds=100), Event()
    end = gated(cluster, gate, 7)
    while not cluster.losses:
        time.sleep(0.001)
    assert "0 spare" in repr(cluster)
    gate.set()
    assert end.result(30) == 7
    cluster.refill()
    assert "1 spare" in repr(cluster)


def test_a_new_spare_process_does_not_wait_forever(in_process) -> None:
    cluster, gate = in_process(crash_before={0}, tells=True, spare_seconds=0.05), Event()
    end = gated(cluster, gate)
    while not cluster.losses or "0 spare" in repr(cluster):
        time.sleep(0.001)
    assert not end.done
    gate.set()
    assert end.result(30) == 0


def test_code_is_loaded_once(in_process) -> None:
    loaded = []

    class Noted(FunctionCode):
        def load(self):
            loaded.append(self.key)
            return super().load()
    cluster, code = in_process(), Noted(function=abs)
    program = cluster.program("p")
    for _ in range(3):
        program.load(code)
    assert program.call(code, -1, worker=1).result(30) == 1
    assert len(loaded) == 3   # two workers, and a spare one
    cluster.refill()
    assert len(loaded) == 3


def test_nobody_waits_for_a_spare_process_that_is_being_started(in_process) -> None:
    """A run that began just behind a loss waited seconds until the next spare process stood."""
    cluster, code = in_process(), FunctionCode(function=abs)
    cluster._engine.begins = begins = Event()
    lost = cluster._engine.name(cluster._actors[0])
    cluster._events.put(Closed(actor=lost))
    while not cluster.losses or "1 spare" not in repr(cluster):
        time.sleep(0.001)
    program = cluster.program("p")
    loading = Thread(target=program.load, args=(code,), daemon=True)
    loading.start()
    loading.join(20)
    assert not loading.is_alive()
    assert program.call(code, -1).result(30) == 1
    begins.set()
    cluster.refill()
    assert {name for name, key in cluster._loaded if key == code.key} == {
        *map(cluster._engine.name, cluster._standing())}


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_the_wait_of_a_spare_process_is_checked(seconds: float) -> None:
    with pytest.raises(UsageError, match="a missing spare process waits"):
        Cluster(spare_seconds=seconds)


def test_what_cannot_be_sent_is_not_sent_again(in_process, monkeypatch) -> None:
    cluster = in_process(crash_before={0})
    program, send = cluster.program("p"), cluster._engine.run

    def sent(actor, key: str, *more):
        if key == "bad":
            raise TypeError("it cannot be packed")
        return send(actor, key, *more)
    monkeypatch.setattr(cluster._engine, "run", sent)
    with pytest.raises(TypeError, match="it cannot be packed"):
        program.call(FunctionCode(function=abs, key="bad"), 1)
    assert program.call(ADD, 1, 2).result(30) == 3
    assert len(cluster.losses) == 1


def test_an_engine_that_starts_nothing_more_is_told(in_process, monkeypatch) -> None:
    cluster = in_process(spares=0, crash_before={0})
    program = cluster.program("p")

    def start(place: int) -> None:
        raise OSError(f"no process at place {place}")
    monkeypatch.setattr(cluster._engine, "start", start)
    first = program.call(ADD, 1, 2)
    for _ in range(2):
        with pytest.raises(OSError, match="no process at place 0"):
            first.result(30)
    with pytest.raises(OSError, match="no process at place 0"):
        program.call(ADD, 1, 2)


def test_whoever_waits_is_told_that_the_cluster_was_closed(in_process) -> None:
    cluster, gate = in_process(), Event()
    program = cluster.program("p")
    end = program.call(ADD, gated(cluster, gate), 1)
    closing = Thread(target=cluster.close)
    closing.start()
    with pytest.raises(RunFailedError, match="the cluster was closed"):
        end.result(30)
    gate.set()
    closing.join(30)
    cluster.close()
    with pytest.raises(RunFailedError, match="the cluster was closed"):
        program.call(ADD, 1, 2)
