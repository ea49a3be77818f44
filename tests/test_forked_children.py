"""What is forked instead of started does what a new interpreter does, and only what can be forked is."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.processes.workspace import workspace
from polysched.target import find_compiler
from tests import forked_children
from tests.cli.command import polysched
from tests.cli.loaded_process import read_once
from tests.forked_children import (
    CLONE,
    FORKS,
    LEAST_MEMORY,
    NEW,
    REFUSED,
    Child,
    fork_loaded,
    fork_own,
    take_the_place,
)

pytestmark = pytest.mark.skipif(
    not FORKS, reason=f"the call that makes a sibling of a process is known for Linux on {', '.join(CLONE)} alone")

WORKER = [sys.executable, "-m", "polysched.model.kernel_worker"]
"""A module that runs what it is told to: it reads a pickle."""


class Run:
    """A pickle of this is code that runs where it is read."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, dict[str, Any]]]:
        return exec, (self.code, {})


@contextmanager
def forking(fork: Callable[[Child], int]) -> Iterator[list[int]]:
    """Start children by `fork`; what it answered."""
    answers: list[int] = []

    def noted(child: Child) -> int:
        answers.append(fork(child))
        return answers[-1]

    with pytest.MonkeyPatch.context() as patch:
        take_the_place(noted, patch.setattr)
        yield answers


@contextmanager
def as_new() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "_execute_child", NEW)
        yield


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The loaded process is there."""
    assert polysched("--version", folder=tmp_path_factory.mktemp("version")).returncode == 0


def worked(code: str, folder: Path, **options: Any) -> tuple[int, str, str]:
    request = folder / "request.json"
    request.write_text("{}")
    launched = [sys.executable, "-I", "-S", str(forked_children.LAUNCHER), "child", *WORKER, str(request)]
    done = subprocess.run(launched, input=pickle.dumps(Run(code)), capture_output=True, cwd=folder, timeout=60,
                          check=False, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


STATE = """
import logging, os, signal, sys, threading
print(os.getcwd(), sys.argv[1:], sys.path[0], os.environ["A_WORD"], os.environ.get("HOME"), sys.stdin.read())
print(os.getsid(0) == os.getpid(), sorted(map(int, os.listdir("/proc/self/fd")))[:3], len(os.listdir("/proc/self/fd")))
print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), sys.modules["__main__"].__spec__.name)
print(threading.active_count(), threading.current_thread() is threading.main_thread())
logging.info("no")
logging.warning("yes")
"""


def test_a_module_finds_what_it_finds_in_a_new_interpreter(loaded: None, tmp_path: Path) -> None:
    asked = {"env": {**os.environ, "A_WORD": "here", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
             "start_new_session": True}
    with as_new():
        new = worked(STATE, tmp_path, **asked)
    with forking(fork_loaded) as answers:
        forked = worked(STATE, tmp_path, **asked)
    assert answers != [REFUSED]
    assert (forked[0], forked[1]) == (new[0], new[1])
    assert f"{tmp_path} ['{tmp_path}/request.json'] {tmp_path} here" in new[1]
    lines = [told[2].splitlines() for told in (new, forked)]
    assert [(told[0], told[-1]) for told in lines] == 2 * [("WARNING:root:yes", lines[0][-1])]


@pytest.mark.parametrize(("code", "status", "last"), [
    ("import sys; sys.exit(7)", 7, []), ("import sys; sys.exit(263)", 7, []), ("import sys; sys.exit()", 0, []),
    ("import sys; sys.exit('out of cheese')", 1, ["out of cheese"]),
    ("1 / 0", 1, ["ZeroDivisionError: division by zero"]), ("import os; os.abort()", -6, []),
    ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15, [])])
def test_a_module_ends_as_it_does_in_a_new_interpreter(
        code: str, status: int, last: list[str], loaded: None, tmp_path: Path) -> None:
    with forking(fork_loaded) as answers:
        returned, _, errors = worked(code, tmp_path)
    assert answers != [REFUSED]
    assert (returned, errors.splitlines()[-1:]) == (status, last)


CONSTRUCTOR = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void at_once(void) {{ {body} }}
"""


@pytest.mark.parametrize(("body", "end"), [
    ("abort();", End.CRASHED), ("*(volatile int *)8 = 1;", End.CRASHED), ("raise(SIGKILL);", End.MEMORY),
    ("_exit(7);", End.FAILED), ("for (;;) pause();", End.HUNG), ('fputs("cheese", stderr); exit(3);', End.FAILED),
    ("char *all = malloc(2UL << 30); memset(all, 1, 2UL << 30);", End.CRASHED), ("", End.FAILED)])
def test_an_isolated_child_ends_as_one_of_a_new_interpreter(
        body: str, end: End, loaded: None, tmp_path: Path) -> None:
    source, library = tmp_path / "made.c", tmp_path / "made.so"
    source.write_text(CONSTRUCTOR.format(body=body))
    assert not find_compiler().run(["-w", "-O0", "-shared", "-fPIC", str(source), "-o", str(library)]).returncode

    def ended() -> tuple[object, ...]:
        with workspace() as folder:
            found = run_isolated("polysched.fuzz.batch_child", {"libraries": [str(library)]}, folder=folder,
                                 limits=Limits(seconds=1.5, memory_bytes=LEAST_MEMORY))
        last = found.error_output.splitlines()[-1:]
        return found.end, found.signal_name, found.exit_status, found.phase, last, found.reports

    with as_new():
        new = ended()
    with forking(fork_loaded) as answers:
        forked = ended()
    assert answers != [REFUSED]
    assert forked == new
    assert forked[0] is end


def test_commands_fork_themselves(loaded: None, tmp_path: Path) -> None:
    """And so do children of children: nobody is left of a command that ended, and its results are there."""
    (tmp_path / "in.c").write_text("""void f(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] = 2 * A[i];
#pragma endscop
}
""")
    done = polysched("run", "in.c", "--size", "n=50", "--pairs", "2", "--json", "-", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measurement"]["timing"]["original"]


GET_THREADS = """
import ctypes, numpy
for line in open("/proc/self/maps"):
    if "openblas" in line:
        library = ctypes.CDLL(line.split()[-1])
        names = [before + "openblas_get_num_threads" + behind for before in ("", "scipy_") for behind in ("", "64_")]
        print(*(getattr(library, name)() for name in names if hasattr(library, name)))
        break
"""


@pytest.mark.parametrize("count", ["1", "3"])
def test_products_run_on_the_threads_that_are_asked_for(count: str, loaded: None, tmp_path: Path) -> None:
    with forking(fork_loaded) as answers:
        forked = worked(GET_THREADS, tmp_path, env={**os.environ, "OPENBLAS_NUM_THREADS": count})
    assert answers != [REFUSED]
    assert forked[1].split() == [str(min(int(count), len(os.sched_getaffinity(0))))]   # as OpenBLAS itself does


def of(words: list[str], **others: Any) -> Child | None:
    asked = {**dict.fromkeys(forked_children.OTHERS), "umask": -1, "cwd": None, "env": None, "pass_fds": (),
             "start_new_session": False, **others}
    return Child.of(words, asked)


@pytest.fixture
def pipes() -> Iterator[dict[str, int]]:
    """Descriptors as `Popen` has them."""
    reading, writing = os.pipe()
    with open(os.devnull, "w") as nothing:
        yield {"p2cread": reading, "c2pwrite": writing, "errwrite": nothing.fileno()}
    os.close(reading)
    os.close(writing)


def test_what_cannot_be_forked_is_started_anew(pipes: dict[str, int], tmp_path: Path) -> None:
    child = of([*WORKER, "a"], **pipes)
    assert child is not None
    assert child.arguments == ("polysched.model.kernel_worker", "a")
    assert Child.from_json(json.loads(json.dumps(child.to_json()))).files == child.files
    for words in ([sys.executable, "-c", "pass"], [sys.executable, "-m", "pytest"], ["gcc", "-v"],
                  [sys.executable, "-s", *WORKER[1:]], [sys.executable, "-m"]):
        assert of(words, **pipes) is None
    with (tmp_path / "file").open("w") as file:
        for change in ({"p2cread": -1}, {"c2pwrite": file.fileno()}, {"p2cread": pipes["c2pwrite"]}, {"shell": True},
                       {"cwd": tmp_path / "nowhere"}, {"preexec_fn": print}, {"umask": 0}):
            assert of(WORKER, **(pipes | change)) is None


@pytest.mark.parametrize("bytes_less", [0, 1])
def test_little_memory_is_not_shared(bytes_less: int, pipes: dict[str, int], tmp_path: Path) -> None:
    request = tmp_path / "request"
    request.write_text(json.dumps({"limits": {"memory_bytes": LEAST_MEMORY - bytes_less}}))
    launched = [sys.executable, "-I", "-S", str(forked_children.LAUNCHER), "child", *WORKER, str(request), "9"]
    assert (of(launched, **pipes) is None) == bool(bytes_less)


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "OPENBLAS_CORETYPE", "LC_ALL"])
def test_variables_that_are_read_once_start_a_new_interpreter(name: str, loaded: None, pipes: dict[str, int]) -> None:
    child = of(WORKER, **pipes, env={**os.environ, name: "3"})
    assert child is not None
    assert fork_loaded(replace(child, launcher=("child",))) == REFUSED


def test_only_launchers_are_forks_of_the_loaded_process(loaded: None, pipes: dict[str, int]) -> None:
    child = of(WORKER, **pipes)
    assert child is not None
    assert fork_loaded(child) == REFUSED


def test_a_process_with_threads_does_not_fork_itself(monkeypatch: pytest.MonkeyPatch, pipes: dict[str, int]) -> None:
    monkeypatch.setattr(forked_children, "may_fork", lambda: False)
    monkeypatch.setattr(forked_children, "LOADED_WITH", read_once(os.environ))
    child = of(WORKER, **pipes)
    assert child is not None
    assert fork_own(child) == REFUSED
