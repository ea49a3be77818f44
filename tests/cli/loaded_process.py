"""A process that has polysched's modules loaded and forks itself for every command: imports cost a second each time.

Read as a script it is that process: per line of JSON on its standard input (arguments, folder, environment, files of
the output) a fork becomes `python -m polysched ARGUMENTS`, with the interpreter's own end, and two lines answer: the
fork's process id, its exit status as `subprocess` counts it.

The end is the interpreter's own up to where it takes its modules apart, which in a fork copies all of their memory.

Children of tests that run a module are such forks, too: `tests.forked_children` says which and how.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

STATUS: list[int] = []
"""What a command ended with, once it has."""


def _leave() -> None:
    """The last of what is done at the exit: this process ends, unless its output cannot be written."""
    if STATUS:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(STATUS[0])


if __name__ == "__main__":
    atexit.register(_leave)   # before the modules whose own handlers come first then

ROOT = Path(__file__).parents[2]
ALONE = 4
"""So many children of a process of the test run start as new interpreters before the process is worth its start."""
LAZY = ("matplotlib.pyplot", "ortools.sat.python.cp_model", "rich.console", "rich.table")
"""Modules that commands import when they need them."""
READ_ONCE = ("PYTHON", "LD_", "GLIBC_", "MALLOC_", "OPENBLAS_", "LANG", "LC_")
"""How variables begin that an interpreter and its libraries read when they are loaded."""
THREADS = "OPENBLAS_NUM_THREADS"
OFTEN_READ = ("PYTHONPATH", "PYTHONBREAKPOINT", THREADS)
"""Variables that a fork can take over for all that; Ray sets the second in its driver."""
FEW_RECIPES = {"first_generation": 64, "generation": 16}
"""How many recipes a command's search ranks, in the place of thousands; `search/test_tuning.py` has those."""
_ASKED = threading.Lock()
_children = 0
_at_first: dict[str, str] = {}


def read_once(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a fork cannot take over."""
    return {name: value for name, value in environment.items()
            if name.startswith(READ_ONCE) and name not in OFTEN_READ}


def remember(environment: Mapping[str, str]) -> None:
    """The loaded process starts with the environment of the test run, whichever test asks first and changed its own."""
    _at_first.update(environment)


def run_command(arguments: tuple[str, ...], *, folder: Path, environment: Mapping[str, str],
                timeout: float, given: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run `polysched ARGUMENTS` in a fork, as `subprocess.run` would in a new process.

    given : what its standard input has.
    """
    with tempfile.TemporaryDirectory() as place, _ASKED:
        out, err, read = Path(place, "out"), Path(place, "err"), Path(place, "in") if given else Path(os.devnull)
        if given:
            read.write_bytes(given)
        server = _server()
        assert server.stdout is not None
        process = _ask(server, {"arguments": arguments, "folder": str(folder), "environment": dict(environment),
                                "in": str(read), "out": str(out), "err": str(err)})
        with selectors.DefaultSelector() as selector:
            selector.register(server.stdout, selectors.EVENT_READ)
            in_time = bool(selector.select(timeout))
        if not in_time:
            os.kill(process, signal.SIGKILL)
        status = int(server.stdout.readline())
        if not in_time:
            raise subprocess.TimeoutExpired(["polysched", *arguments], timeout)
        return subprocess.CompletedProcess(["polysched", *arguments], status, out.read_text(), err.read_text())


def fork_child(child: Mapping[str, Any], environment: Mapping[str, str]) -> int:
    """A fork of the loaded process that is a child of this one; -1 where a new interpreter has to start."""
    global _children
    _children += 1
    with _ASKED:
        if not _server.cache_info().currsize and (
                _children <= ALONE or threading.current_thread() is not threading.main_thread()):
            return -1   # its forks would be children of a thread that ends
        server = _server()
        return _ask(server, {"child": child}) if read_once(environment) == read_once(_at_first) else -1


def _ask(server: subprocess.Popen[bytes], request: Mapping[str, Any]) -> int:
    """The process that a request is given to."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[bytes]:
    """One per process of the test run; unbuffered, so that the selector sees every answer."""
    server = subprocess.Popen([sys.executable, __file__], cwd=ROOT, env=_at_first, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0)
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    return server


def _load() -> None:
    sys.path[0] = str(ROOT)
    import polysched
    for module in pkgutil.walk_packages(polysched.__path__, "polysched."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LAZY:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    for name in ("compilations", "forked_children"):
        importlib.import_module(f"tests.{name}")
    from polysched.search import tuning
    from polysched.target import find_compiler
    tuning.LIMITS = replace(tuning.LIMITS, **FEW_RECIPES)
    find_compiler()   # and the answers of the compiler
    if not (process := os.fork()):   # OpenBLAS stops its threads for that, until it needs them
        os._exit(0)
    os.waitpid(process, 0)


def _next_command() -> dict[str, Any] | None:
    """Fork for every request; returns the request in the fork, None in the server once its input has ended."""
    from tests.forked_children import Child, fork_for_parent
    while line := sys.stdin.buffer.raw.readline():
        request = json.loads(line)
        if "child" in request:
            os.write(1, b"%d\n" % fork_for_parent(Child.from_json(request["child"])))
            continue
        process = os.fork()
        if not process:
            return request
        os.write(1, b"%d\n" % process)
        _, status = os.waitpid(process, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    return None


def _become(command: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(command["environment"])
    from tests.forked_children import share
    share()
    os.chdir(command["folder"])
    sys.path[0] = command["folder"]
    sys.argv[1:] = command["arguments"]
    for number, name, flags in ((0, command["in"], os.O_RDONLY), (1, command["out"], os.O_WRONLY | os.O_CREAT),
                                (2, command["err"], os.O_WRONLY | os.O_CREAT)):
        opened = os.open(name, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)


if __name__ == "__main__":
    _load()
    gc.freeze()
    if command := _next_command():
        _become(command)
        try:
            runpy.run_module("polysched", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            if not isinstance(end.code, int):
                raise
            STATUS.append(end.code & 0xFF)
