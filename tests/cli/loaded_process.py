"""A process that has polysched's modules loaded and forks itself for every command: imports cost a second each time.

Read as a script it is that process: per line of JSON on its standard input (arguments, folder, environment, files of
the output) a fork becomes `python -m polysched ARGUMENTS`, with the interpreter's own end, and two lines answer: the
fork's process id, its exit status as `subprocess` counts it.

The end is the interpreter's own up to where it takes its modules apart, which in a fork copies all of their memory.
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
from collections.abc import Mapping
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
LAZY = ("matplotlib.pyplot", "ortools.sat.python.cp_model", "rich.console", "rich.table")
"""Modules that commands import when they need them."""


def run_command(arguments: tuple[str, ...], *, folder: Path, environment: Mapping[str, str],
                timeout: float) -> subprocess.CompletedProcess[str]:
    """Run `polysched ARGUMENTS` in a fork, as `subprocess.run` would in a new process."""
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment),
                   "out": str(out), "err": str(err)}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        process = int(server.stdout.readline())
        with selectors.DefaultSelector() as selector:
            selector.register(server.stdout, selectors.EVENT_READ)
            in_time = bool(selector.select(timeout))
        if not in_time:
            os.kill(process, signal.SIGKILL)
        status = int(server.stdout.readline())
        if not in_time:
            raise subprocess.TimeoutExpired(["polysched", *arguments], timeout)
        return subprocess.CompletedProcess(["polysched", *arguments], status, out.read_text(), err.read_text())


@cache
def _server() -> subprocess.Popen[bytes]:
    """One per process of the test run; unbuffered, so that the selector sees every answer."""
    server = subprocess.Popen([sys.executable, __file__], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              bufsize=0)
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
    importlib.import_module("tests.compilations")
    from polysched.target import find_compiler
    find_compiler()   # and the answers of the compiler


def _next_command() -> dict[str, Any] | None:
    """Fork for every request; returns the request in the fork, None in the server once its input has ended."""
    while line := sys.stdin.buffer.raw.readline():
        process = os.fork()
        if not process:
            return json.loads(line)
        os.write(1, b"%d\n" % process)
        _, status = os.waitpid(process, 0)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(status))
    return None


def _become(command: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(command["environment"])
    from tests.compilations import SHARED, take_the_place
    if (folder := os.environ.pop(SHARED, None)) is not None:
        take_the_place(Path(folder))   # of the test run's compilers
    os.chdir(command["folder"])
    sys.path[0] = command["folder"]
    sys.argv[1:] = command["arguments"]
    for number, name, flags in ((0, os.devnull, os.O_RDONLY), (1, command["out"], os.O_WRONLY | os.O_CREAT),
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
