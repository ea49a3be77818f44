"""Two queues over threads: every request is served, everything ends, results are those of a plain run."""

import ctypes
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from polysched.errors import RunFailedError, UsageError
from polysched.measure.processes.building import compile_shared
from polysched.runtime import Job, PreemptibleKernel, ServeOptions, serve, serving
from polysched.runtime.scheduler_rows import RUN
from polysched.runtime.scheduler_source import SCHEDULER
from polysched.target import Costs, Target, find_compiler
from tests.runtime.kernels import product, sweeps

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(2)


def real_time(requests: int = 12, **own) -> Job:
    kernel = product()
    name = next(a.name for a in kernel.scop.arrays if a.name not in ("a", "b"))
    return Job(**{"name": "urgent", "kernel": kernel, "period": 0.002, "requests": requests, "arguments": {
        "a": np.ones((16, 16), np.float32), "b": np.ones((16, 16), np.float32), name: np.zeros((16, 16), np.float32)},
        **own})


def swept(steps: int, size: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """An array to be swept, and what it is after so many runs."""
    start = RNG.random((size, size))
    after = start.copy()
    serve([Job(name="alone", kernel=sweeps(), arguments={"steps": steps, "a": after}, requests=runs)])
    return start, after


@pytest.mark.parametrize("options", [
    ServeOptions(), ServeOptions(workers=2), ServeOptions(workers=3, pad=False), ServeOptions(preempt=False),
    ServeOptions(fifo=True)])
def test_every_request_is_served_and_best_effort_goes_on(options) -> None:
    array = RNG.random((80, 80))
    served = serve([real_time(first=0.05),   # so that there is time for the other job before
                    Job(name="patient", kernel=sweeps(), arguments={"steps": 40, "a": array})], options)
    urgent, patient = served["urgent"], served["patient"]
    assert (urgent.runs, urgent.stops) == (12, 0)
    assert (urgent.latencies >= urgent.waits).all()
    assert (urgent.waits >= 0).all()
    assert patient.runs + patient.stops >= 1
    assert len(served.yields) <= patient.stops
    assert "urgent: 12 runs" in str(served)
    if not options.preempt:
        assert len(served.yields) == 0


def test_rests_under_fifo_change_no_result_and_are_no_yields(monkeypatch) -> None:
    start, expected = swept(60, 90, 3)
    monkeypatch.setattr(serving, "LIMITS", replace(serving.LIMITS, rest_every=2e-4))
    served = serve([Job(name="patient", kernel=sweeps(), arguments={"steps": 60, "a": start}, requests=3)],
                   ServeOptions(fifo=True))
    if not served.fifo:
        pytest.skip("the system does not grant SCHED_FIFO")
    assert (served["patient"].runs, served["patient"].stops, len(served.yields)) == (3, 0, 0)
    assert start.tobytes() == expected.tobytes()
    assert served.seconds > served["patient"].seconds * (1 + serving.LIMITS.rest_share / 2)


def test_requests_are_released_under_fifo_where_best_effort_has_all_cores() -> None:
    cores = min(len(os.sched_getaffinity(0)), serving.LIMITS.most_workers)
    patient = [Job(name=f"patient {n}", kernel=sweeps(), requests=1,
                   arguments={"steps": 5000, "a": RNG.random((90, 90))}) for n in range(cores)]
    served = serve([real_time(first=0.02), *patient], ServeOptions(workers=cores, pad=False, fifo=True))
    if not served.fifo:
        pytest.skip("the system does not grant SCHED_FIFO")
    assert served["urgent"].runs == 12
    assert all(served[job.name].stops for job in patient)


def test_a_job_that_is_stopped_often_has_the_results_of_one_that_is_not() -> None:
    start, expected = swept(60, 90, 3)
    served = serve([real_time(60, period=0.0005),
                    Job(name="patient", kernel=sweeps(), arguments={"steps": 60, "a": start}, requests=3)])
    assert (served["urgent"].runs, served["patient"].runs) == (60, 3)
    assert start.tobytes() == expected.tobytes()


def test_without_real_time_all_runs_are_done() -> None:
    arrays = [RNG.random((30, 30)) for _ in range(3)]
    served = serve([Job(name=f"j{n}", kernel=sweeps(), arguments={"steps": 3, "a": a}, requests=2)
                    for n, a in enumerate(arrays)], ServeOptions(workers=2))
    assert [j.runs for j in served.jobs] == [2, 2, 2]
    assert len(served.yields) == 0
    assert "3 jobs" in repr(served)


@pytest.mark.parametrize(("jobs", "said"), [
    (list, "there is no job"),
    (lambda: [real_time(), real_time()], "two jobs have one name"),
    (lambda: [Job(name="b", kernel=sweeps(), arguments={"steps": 1, "a": np.zeros((9, 9))})], "how often it runs"),
    (lambda: [sweeps()], "what is served is a job"),
    (lambda: [real_time(kernel=len)], "a job runs what can be stopped"),
])
def test_what_never_ends_or_is_no_job_is_refused(jobs, said) -> None:
    with pytest.raises(UsageError, match=said):
        serve(jobs())


def test_two_jobs_do_not_share_what_one_writes() -> None:
    array = np.zeros((9, 9))
    jobs = [Job(name=name, kernel=sweeps(), arguments={"steps": 1, "a": array}, requests=1) for name in "ab"]
    with pytest.raises(UsageError, match="share memory that one of them writes"):
        serve(jobs)


@pytest.mark.parametrize("own", [{"period": 0.0}, {"period": float("nan")}, {"first": -1.0}, {"requests": 0},
                                 {"requests": None}, {"requests": 1 << 30}, {"requests": 2.0}, {"period": "1"},
                                 {"first": "0"}, {"first": 1e300}, {"period": 1e300, "requests": 2}])
def test_numbers_of_a_job_are_checked(own) -> None:
    with pytest.raises(UsageError, match="job urgent"):
        real_time(**{"requests": 1, **own})


@pytest.mark.parametrize("workers", [0, -1, 1000, 1.5, "2"])
def test_there_are_some_threads(workers) -> None:
    with pytest.raises(UsageError, match="threads"):
        ServeOptions(workers=workers)


def faked(name: str, run, **own) -> Job:
    """A job that runs a function of Python in place of machine code."""
    kernel = PreemptibleKernel(function=sweeps().function, library=sweeps().library, restart=sweeps().restart,
                               tiled=sweeps().tiled, machine_code=b"")
    vars(kernel)["entry"] = RUN(run)
    return Job(name=name, kernel=kernel, arguments={"steps": 1, "a": np.zeros((5, 5))}, **own)


@pytest.mark.parametrize("own", [{"period": 0.001, "requests": 3}, {"requests": 3}])
def test_a_kernel_without_memory_ends_its_job(own) -> None:
    calls = []
    with pytest.raises(RunFailedError, match="no memory"):
        serve([faked("poor", lambda *_: calls.append(1) or 2, **own)])
    assert len(calls) == 1


def test_requests_of_one_moment_each_get_a_thread() -> None:
    """One thread is idle and one works on best effort: the second request does not wait for the first to be served."""
    begun = {}

    def patient(_, stop, __) -> int:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if stop[0]:
                return 1
            time.sleep(0.001)
        return 0

    def urgent(own: str, other: str) -> int:
        begun[own] = True
        end = time.monotonic() + 20
        while other not in begun and time.monotonic() < end:
            time.sleep(0.001)
        return 0 if other in begun else 2

    served = serve([faked("r", lambda *_: urgent("r", "s"), period=1.0, requests=1, first=0.2),
                    faked("s", lambda *_: urgent("s", "r"), period=1.0, requests=1, first=0.2),
                    faked("patient", patient)], ServeOptions(workers=2))
    assert served["patient"].stops >= 1


def test_results_are_asked_for_by_name() -> None:
    served = serve([real_time(1)])
    assert [j.name for j in served] == ["urgent"]
    assert "urgent" in served
    assert "other" not in served
    with pytest.raises(UsageError, match="no job is called so"):
        served["other"]


def running(size: int = 300) -> tuple[PreemptibleKernel, dict[str, np.ndarray]]:
    """A product that is one tile, and may be done again."""
    kernel = product(4096)
    name = next(a.name for a in kernel.scop.arrays if a.name not in ("a", "b"))
    return kernel, {"a": RNG.random((size, size), dtype=np.float32), "b": RNG.random((size, size), dtype=np.float32),
                    name: np.zeros((size, size), np.float32)}


def test_a_run_that_is_thrown_away_is_done_again_with_the_same_result() -> None:
    kernel, arguments = running(800)   # a run lasts several periods
    name = next(n for n in arguments if n not in ("a", "b"))
    serve([Job(name="alone", kernel=kernel, arguments=arguments, requests=1)])
    expected = arguments[name].copy()
    arguments[name][:] = -1
    served = serve([real_time(40, period=0.001), Job(name="patient", kernel=kernel, arguments=arguments, requests=6,
                                                     tile_seconds=0.01)], ServeOptions(reset=True))
    assert kernel.resettable
    assert (served["urgent"].runs, served["patient"].runs) == (40, 6)
    assert served["patient"].resets >= 1
    assert f"{served['patient'].resets} resets" in str(served)
    assert arguments[name].tobytes() == expected.tobytes()


def test_a_run_is_not_left_while_the_c_library_holds_a_lock(tmp_path: Path) -> None:
    """The first use of a thread's own array allocates it: a reset in there left the allocator locked."""
    done = subprocess.run([sys.executable, "-m", "tests.runtime.reset_in_malloc", str(tmp_path)], capture_output=True,
                          text=True, timeout=100, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    resets, runs = map(int, done.stdout.split())
    assert resets >= 1
    assert runs == 20


@pytest.mark.parametrize(("options", "own"), [(ServeOptions(), {"tile_seconds": 1.0}),
                                              (ServeOptions(reset=True), {"tile_seconds": 1e-6}),
                                              (ServeOptions(reset=True, preempt=False), {"tile_seconds": 1.0})])
def test_without_leave_or_with_short_tiles_nothing_is_thrown_away(options, own) -> None:
    kernel, arguments = running(100)
    served = serve([real_time(10), Job(name="patient", kernel=kernel, arguments=arguments, **own)], options)
    assert served["patient"].resets == 0


def test_a_kernel_that_overwrites_its_input_only_yields() -> None:
    start, expected = swept(60, 90, 2)
    assert not sweeps().resettable
    assert "overwrites" in str(sweeps().restart)
    served = serve([real_time(30, period=0.0005), Job(name="patient", kernel=sweeps(), requests=2, tile_seconds=1.0,
                                                      arguments={"steps": 60, "a": start})], ServeOptions(reset=True))
    assert served["patient"].resets == 0
    assert start.tobytes() == expected.tobytes()


def test_a_run_that_is_always_interrupted_ends() -> None:
    """After some resets in a row it yields; a kernel without tiles then runs to its end."""
    kernel, arguments = running(500)
    served = serve([real_time(400, period=0.0005), Job(name="patient", kernel=kernel, arguments=arguments, requests=2,
                                                       tile_seconds=1.0)], ServeOptions(reset=True))
    assert served["patient"].runs == 2
    assert served["patient"].resets <= 6


def test_a_time_of_a_tile_is_checked() -> None:
    with pytest.raises(UsageError, match="a tile takes a positive"):
        real_time(tile_seconds=0.0)


@pytest.mark.parametrize(("most_rise", "memory_cores", "beside"), [
    (None, 1.3, True), (1e9, 1.3, True), (0.0, 1.3, False), (0.0, 2.0, True)])
def test_only_jobs_that_disturb_little_go_on_beside_requests(monkeypatch, most_rise, memory_cores, beside) -> None:
    monkeypatch.setattr("polysched.runtime.serving.demand", lambda *_: 1.0)
    found = serve([real_time(), Job(name="patient", kernel=sweeps(), arguments={
        "steps": 40, "a": RNG.random((80, 80))})], ServeOptions(
            workers=2, most_rise=most_rise, target=Target(costs=Costs(memory_cores=memory_cores))))
    assert found["patient"].beside == beside
    assert (found["urgent"].beside, found["urgent"].runs) == (True, 12)
    assert found["patient"].runs + found["patient"].stops >= 1


def test_without_padding_none_goes_on_beside_requests() -> None:
    found = serve([real_time(), Job(name="patient", kernel=sweeps(), arguments={
        "steps": 4, "a": RNG.random((30, 30))})], ServeOptions(workers=2, pad=False, most_rise=1.0))
    assert not found["patient"].beside


@pytest.mark.parametrize("most_rise", [-0.1, float("nan"), "much"])
def test_a_rise_is_checked(most_rise) -> None:
    with pytest.raises(UsageError, match="a latency rises"):
        ServeOptions(most_rise=most_rise)


@pytest.mark.parametrize("jobs", [
    lambda: [real_time(3, period=1000.0)],
    lambda: [Job(name="patient", kernel=sweeps(), arguments={"steps": 3, "a": RNG.random((30, 30))}, requests=1 << 20)],
    lambda: [real_time(1 << 20, period=1e-6)]])
def test_what_python_raises_meanwhile_ends_it(jobs, monkeypatch) -> None:
    class Interrupted(Event):
        waits = 0

        def wait(self, timeout=None):
            self.waits += 1
            if self.waits == 1:
                super().wait(0.02)
                raise KeyboardInterrupt
            return super().wait(20.0)

    monkeypatch.setattr(serving, "Event", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        serve(jobs())
    monkeypatch.undo()
    assert serve([real_time(2)])["urgent"].runs == 2, "the next one waits for nobody"


@pytest.mark.parametrize("begun", [False, True])
def test_an_interruption_while_the_thread_starts_ends_it(begun, monkeypatch) -> None:
    class Starting(Thread):
        def start(self):
            if begun:
                super().start()
            raise KeyboardInterrupt

    array = RNG.random((30, 30))
    monkeypatch.setattr(serving, "Thread", Starting)
    with pytest.raises(KeyboardInterrupt):
        serve([Job(name="patient", kernel=sweeps(), arguments={"steps": 9, "a": array}, requests=1 << 20)])
    monkeypatch.undo()
    left = array.copy()
    assert serve([real_time(2)])["urgent"].runs == 2, "nobody waits for a lock"
    assert array.tobytes() == left.tobytes(), "nothing runs on"


def test_who_waits_for_another_may_be_interrupted(monkeypatch) -> None:
    class Interrupted(Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    monkeypatch.setattr(serving, "Event", Interrupted)
    with serving._ONE_AT_A_TIME, pytest.raises(KeyboardInterrupt):
        serve([real_time(2)])


def test_nothing_begins_behind_a_stop(monkeypatch) -> None:
    patient = Job(name="patient", kernel=sweeps(), arguments={"steps": 3, "a": RNG.random((30, 30))}, requests=1 << 20)
    monkeypatch.setattr(serving, "Told", partial(serving.Told, stop=1))
    assert [job.runs for job in serve([patient, real_time(1 << 20, period=1e-9)])] == [0, 0]


@pytest.mark.parametrize(("started", "fifo", "where"), [
    (0, False, "a worker"), (1, False, "a worker"), (0, True, "the thread that has best effort rest"),
    (2, True, "a worker")])
def test_threads_that_cannot_be_started_are_refused(started, fifo, where, tmp_path, monkeypatch) -> None:
    text = ("#include <errno.h>\n#include <pthread.h>\nstatic int tries;\n"
            "static int few(pthread_t *a, const pthread_attr_t *b, void *(*c)(void *), void *d) {\n"
            f"  return tries++ >= {started} ? EAGAIN : pthread_create(a, b, c, d);\n}}\n#define pthread_create few\n")
    made = compile_shared(text + SCHEDULER, name="few", folder=tmp_path, compiler=find_compiler(None),
                          flags=("-O1", "-pthread", "-D_GNU_SOURCE"), openmp=False, what="the scheduler")
    library = ctypes.CDLL(str(made.path))
    granted = serve([real_time(1)], ServeOptions(fifo=True)).fifo
    if fifo and not granted:
        pytest.skip("the system does not grant SCHED_FIFO")
    monkeypatch.setattr(serving, "_library", lambda: library)
    with pytest.raises(RunFailedError, match="a thread could not be started") as refusal:
        serve([real_time(2)], ServeOptions(workers=2, fifo=fifo))
    assert (refusal.value.where, refusal.value.witness) == (where, "2 workers")
    assert "ulimit -u" in str(refusal.value)
