"""Real processes: values pass before they exist, processes are killed, errors come back."""

import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from polysched.distribute import distribute
from polysched.errors import UsageError
from polysched.runtime.dataflow import Cluster, FunctionCode, kernel_code, run_distributed
from polysched.runtime.dataflow.ray_workers import ray_module
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from tests.distribute.programs import scop_of
from tests.runtime.dataflow.test_ranks import given_to


def test_programs_share_workers_and_neither_waits_for_the_other(ray_cluster) -> None:
    wait = FunctionCode(function=lambda x, s: (time.sleep(s), x)[1])
    first, second = ray_cluster.program("first"), ray_cluster.program("second")
    first.load(wait)
    slow = first.call(wait, 1, 1.0, worker=0)
    behind = first.call(wait, slow, 0.0, worker=1)
    assert second.call(wait, 2, 0.0, worker=1).result(60) == 2
    assert not behind.done
    assert behind.result(60) == 1


def test_an_error_comes_back_as_it_was_raised(ray_cluster) -> None:
    def refuse(_: int) -> None:
        raise UsageError("not this one", witness="a number", hint="another one")

    program = ray_cluster.program("p")
    with pytest.raises(UsageError, match="not this one") as caught:
        program.call(FunctionCode(function=refuse), 1).result(60)
    assert caught.value.hint == "another one"


def test_a_killed_process_changes_no_result(ray_cluster) -> None:
    scop = scop_of("jacobi")
    sizes = {"n": 40, "t": 15}
    arrays = given_to(scop, sizes)
    expected = {n: v.copy() for n, v in arrays.items()}
    execute(scop, sizes, expected)
    before = len(ray_cluster.losses)
    run = run_distributed(ray_cluster.program("p"), distribute(scop, "i"), arrays, sizes,
                          before_step=lambda at: ray_cluster.crash(1) if at == 9 else None)
    assert run.result("A", 100).tobytes() == expected["A"].tobytes()
    assert len(ray_cluster.losses) == before + 1


def test_processes_killed_at_random_moments_change_no_result(ray_cluster) -> None:
    scop = scop_of("seidel")
    sizes = {"n": 30, "t": 10}
    arrays = given_to(scop, sizes)
    expected = {n: v.copy() for n, v in arrays.items()}
    execute(scop, sizes, expected)
    distributed, program = distribute(scop, "i"), ray_cluster.program("p")
    draw = random.Random(38)
    run_distributed(program, distributed, arrays, sizes).result("A", 100)
    for _ in range(2):
        ray_cluster.refill()
        before, kills = len(ray_cluster.losses), [
            threading.Timer(draw.uniform(0, 0.4), ray_cluster.crash, (worker,)) for worker in (0, 1)]
        for kill in kills:
            kill.start()
        run = run_distributed(program, distributed, arrays, sizes)
        assert run.result("A", 100).tobytes() == expected["A"].tobytes()
        for kill in kills:
            kill.join()
        while len(ray_cluster.losses) < before + 2:   # one may be killed behind the run
            time.sleep(0.01)


def test_a_process_whose_connection_alone_is_lost_is_replaced_and_ends(ray_cluster) -> None:
    ray_cluster.refill()
    before, program = len(ray_cluster.losses), ray_cluster.program("p")
    own = FunctionCode(function=os.getpid)
    old = program.call(own).result(100)
    x = 0
    for _ in range(4):
        x = program.call(FunctionCode(function=lambda x: (time.sleep(0.1), x + 1)[1]), x)
    engine = ray_cluster._engine
    ticket = next(t for t, name in engine._watched.items() if name == engine.name(ray_cluster._actors[0]))
    next(line for line, name in engine._detector._names.items() if name == ticket).shutdown(socket.SHUT_RDWR)
    assert x.result(100) == 4
    assert [loss.heard for loss in ray_cluster.losses[before:]] == ["connection"]
    assert program.call(own).result(100) != old
    while Path(f"/proc/{old}").exists():
        time.sleep(0.01)


def test_kernels_run_on_large_arrays_of_other_workers(ray_cluster) -> None:
    code = kernel_code(from_c_text("""void f(int n, double a[n]) {
#pragma scop
for (int i = 0; i < n; i++) a[i] += 1.0;
#pragma endscop
}"""))
    program, x = ray_cluster.program("p"), np.zeros(200_000)
    for at in range(5):
        x = program.call(code, 200_000, x, worker=at % 2)
    assert (x.result(60) == 5).all()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:port"])
def test_a_cluster_that_does_not_answer(monkeypatch, address) -> None:
    ray = ray_module()
    monkeypatch.setattr(ray, "is_initialized", lambda: False)   # another test's cluster
    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("asked for minutes"))
    with pytest.raises(UsageError, match="no Ray cluster answers"):
        Cluster(workers=1, spares=0, address=address)


def test_without_ray(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="needs Ray"):
        ray_module()
