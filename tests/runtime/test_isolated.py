"""Jobs in a process of their own: results as here, and a crash that is told and changes nothing."""

from __future__ import annotations

import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest

from polysched.errors import RunFailedError
from polysched.measure.processes.building import compile_shared
from polysched.runtime import Job, PreemptibleKernel, ServeOptions, isolated, serve, serving
from polysched.target import find_compiler
from tests.runtime.kernels import sweeps
from tests.runtime.test_serving import real_time, swept

APART = ServeOptions(isolated=True)
CRASHES = r"""
#include <stdlib.h>
static volatile int zero;
static int deep(volatile char *above) {
  volatile char here[4096];
  here[0] = above ? above[0] : 0;
  return deep(here) + here[9];
}
__attribute__((visibility("default"))) int polysched_run(void *const *arguments, const int *stop, long *done) {
  double *a = arguments[2];
  (void)stop, (void)done;
  a[0] = 7;
  switch (*(const int *)arguments[0]) {
    case 1: *(volatile int *)(size_t)zero = 1; break;
    case 2: return 9 / zero;   /* 1 / x needs no division */
    case 3: abort();
    case 4: return deep(0);
    case 5: exit(3);
  }
  return 0;
}
"""


@lru_cache
def machine_code() -> bytes:
    with TemporaryDirectory() as folder:
        compile_shared(CRASHES, name="crashes", folder=Path(folder), compiler=find_compiler(None), flags=("-O0", "-w"),
                       openmp=False, what="the job")
        return (Path(folder) / "crashes.so").read_bytes()


def crashing(how: int, name: str = "poor", **own: object) -> Job:
    """A job whose machine code ends its process."""
    usual = sweeps()
    kernel = PreemptibleKernel(function=usual.function, library=usual.library, restart=usual.restart, tiled=usual.tiled,
                               machine_code=machine_code())
    return Job(**{"name": name, "kernel": kernel, "arguments": {"steps": how, "a": np.zeros((5, 5))}, "requests": 1,
                  **own})


@pytest.mark.parametrize("options", [APART, ServeOptions(isolated=True, workers=2, reset=True)])
def test_results_are_those_of_this_process(options: ServeOptions) -> None:
    start, expected = swept(30, 60, 3)
    patient = Job(name="patient", kernel=sweeps(), arguments={"steps": 30, "a": start}, requests=3)
    served = serve([real_time(20), patient], options)
    assert (served["urgent"].runs, served["patient"].runs) == (20, 3)
    assert (served["urgent"].latencies >= served["urgent"].waits).all()
    assert (served["urgent"].latencies > 0).all()
    assert start.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("how", "told"), [
    (1, "Segmentation fault"), (2, "Floating point exception"), (3, "Aborted"), (4, "Segmentation fault"),
    (5, "ended before they were done")])
def test_a_crash_is_told_and_changes_nothing(how: int, told: str) -> None:
    job, other = crashing(how), np.zeros((9, 9))
    with pytest.raises(RunFailedError, match=told) as refusal:
        serve([Job(name="beside", kernel=sweeps(), arguments={"steps": 1, "a": other}, requests=1), job], APART)
    assert refusal.value.where == "job poor"
    assert job.arguments["a"][0, 0] == 0
    assert "arrays are as they were" in str(refusal.value)


def test_who_crashes_does_not_serve_this_process() -> None:
    array = np.zeros((5, 5))
    assert serve([crashing(0, arguments={"steps": 0, "a": array})], APART)["poor"].runs == 1
    assert array[0, 0] == 7


def ready() -> list[Job]:
    """Jobs for which no compiler, which is a process, too, has to run any more."""
    serving._machine_code()
    return [real_time(3, period=1000.0)]


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_interrupted_before_the_jobs_begin_leaves_no_process(times: int,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    """The first time the process gets no jobs, which is no crash; the second time it is killed."""
    processes: list[subprocess.Popen[bytes]] = []

    def interrupted(process: subprocess.Popen[bytes], *given: object) -> object:
        processes.append(process)
        if len(processes) <= times:
            raise KeyboardInterrupt
        return usual(process, *given)

    jobs = ready()
    usual: Callable[..., object] = subprocess.Popen.communicate
    monkeypatch.setattr(isolated.subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        serve(jobs, APART)
    assert processes[0].returncode is not None
    assert processes[0].returncode == -signal.SIGKILL or times == 1


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_an_interruption_ends_it(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, when no request was sent, and later."""
    begun = threading.Event()

    def interrupted(process: object, *given: object) -> object:
        if not begun.is_set():
            begun.set()
            usual(process, *given, timeout=seconds)
        return usual(process, *given)

    jobs = ready()
    usual: Callable[..., object] = isolated.subprocess.Popen.communicate
    monkeypatch.setattr(isolated.subprocess.Popen, "communicate", interrupted)
    start = time.monotonic()
    with pytest.raises(isolated.subprocess.TimeoutExpired):
        serve(jobs, APART)
    assert time.monotonic() - start < 30


def test_arrays_beyond_the_memory_are_refused() -> None:
    with pytest.raises(RunFailedError, match="no process of their own") as caught:
        isolated._Memory([1 << 50])
    assert "1,073,741,824 MiB of copies" in str(caught.value)


@pytest.mark.parametrize(("what", "witness"), [
    ("size", "File too large"), ("program", "No such file"), ("folder", "'/nowhere/polysched-")])
def test_what_the_system_refuses_is_told(what: str, witness: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = ready()
    if what == "program":
        monkeypatch.setattr(isolated.sys, "executable", "/nowhere/python")
    if what == "folder":
        monkeypatch.setattr(isolated, "tempfile", SimpleNamespace(
            TemporaryDirectory=partial(TemporaryDirectory, dir="/nowhere")))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        if what == "size":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        with pytest.raises(RunFailedError, match="no process of their own") as caught:
            serve(jobs, APART)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert witness in str(caught.value)
