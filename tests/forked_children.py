"""Children that run a module of polysched are forks of a process that has it loaded: imports cost more than most do.

`take_the_place` lets `subprocess.Popen` start them so: `python -m polysched.ROOM.MODULE ...` behind the launcher of
`measure.processes`, in whose place stands a fork, too, and in forks also without it.  A fork is what its parent waits
for, in the session, folder and environment that are asked for, with the descriptors of `Popen` and no others.  A new
interpreter starts for everything else: other programs, other options than `-m`, variables that an interpreter or a
library reads once, files in the place of pipes, a small limit on memory.

A process of the test run has threads, and loaded what its tests ran, so `cli.loaded_process` forks for it.  A fork of
that process that became a command forks itself.
"""

from __future__ import annotations

import ctypes
import fcntl
import inspect
import json
import logging
import os
import platform
import runpy
import signal
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from polysched.measure.processes.isolation import LAUNCHER
from tests import compilations
from tests.cli.loaded_process import THREADS, fork_child, read_once

CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
"""The number of the system call; its other arguments are zero here, so that their order does not matter."""
FORKS = sys.platform == "linux" and platform.machine() in CLONE
"""Whether the call and its number are known here."""
CLONE_PARENT = 0x8000
SET_THREADS = tuple(f"{before}openblas_set_num_threads{behind}" for before in ("", "scipy_") for behind in ("", "64_"))
LEAST_MEMORY = 1 << 30
"""A child with less counts what it needs itself, and a fork looks as large as what it is forked from."""
OTHERS = ("executable", "shell", "preexec_fn", "gid", "gids", "uid", "umask", "process_group")
"""What else `Popen` can be asked for: no child of polysched needs it."""
REFUSED = -1
NEW = subprocess.Popen._execute_child
"""What starts a new interpreter."""
LOADED_WITH = read_once(os.environ)
"""In the loaded process and its forks: what they cannot change any more."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """A module to be run in a fork.

    Parameters
    ----------
    arguments : the module and what follows it.
    launcher : the launcher's own arguments in front of these; none where there is no launcher.
    files : per descriptor of the child the path that opens it in another process.
    """

    arguments: tuple[str, ...]
    launcher: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    files: Mapping[int, str]
    new_session: bool

    @staticmethod
    def of(args: object, asked: Mapping[str, Any]) -> Child | None:
        """None where a new interpreter has to start.

        Parameters
        ----------
        asked : what `Popen` wants to be done, by its names.
        """
        words = [os.fspath(word) for word in args] if isinstance(args, list) else []
        launcher: list[str] = []
        if words[:4] == [sys.executable, "-I", "-S", str(LAUNCHER)]:
            launcher, words = words[4:5], words[5:]
        if words[:2] != [sys.executable, "-m"] or not words[2:] or words[2].split(".")[0] != "polysched" or any(
                asked[name] not in (None, -1) and asked[name] is not False for name in OTHERS):
            return None
        if launcher and _memory_of(words[3]) < LEAST_MEMORY:
            return None
        kept = {number: asked[name] for number, name in enumerate(("p2cread", "c2pwrite", "errwrite"))}
        files = {number: _path_of(own, read=number == 0)
                 for number, own in (kept | {n: n for n in asked["pass_fds"]}).items()}
        folder, environment = os.path.abspath(asked["cwd"] or "."), dict(asked["env"] or os.environ)
        if not all(files.values()) or not os.path.isdir(folder):
            return None
        return Child(arguments=tuple(words[2:]), launcher=tuple(launcher), folder=folder, environment=environment,
                     files=files, new_session=bool(asked["start_new_session"]))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Child:
        return Child(**{**value, "files": {int(n): path for n, path in value["files"].items()}})


def _memory_of(request: str) -> int:
    """What a request allows its child beyond what is there when it begins; all of it where it does not say."""
    try:
        return int(json.loads(Path(request).read_text())["limits"]["memory_bytes"])
    except (OSError, ValueError, KeyError):
        return LEAST_MEMORY


def _path_of(descriptor: int, *, read: bool) -> str:
    """What another process opens to have this end of a pipe, or the null device; empty for everything else."""
    if descriptor < 0:
        return ""
    kind = os.fstat(descriptor)
    if stat.S_ISFIFO(kind.st_mode):
        end = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
        return f"/proc/{os.getpid()}/fd/{descriptor}" if end == (os.O_RDONLY if read else os.O_WRONLY) else ""
    return os.devnull if os.path.samestat(kind, os.stat(os.devnull)) else ""


def may_fork() -> bool:
    """Whether nothing is running in this process beside Python, and nothing did whose threads would be missing."""
    return len(os.listdir("/proc/self/task")) == 1 and "libgomp" not in Path("/proc/self/maps").read_text()


def take_the_place(fork: Callable[[Child], int], set_attribute: Callable[[type, str, object], None] = setattr) -> None:
    """Let `subprocess.Popen` start children by `fork`, which answers with the process, or `REFUSED`."""
    names = inspect.signature(NEW)

    def execute(self: subprocess.Popen[Any], *given: Any, **others: Any) -> None:
        asked = names.bind(self, *given, **others).arguments
        child = Child.of(asked["args"], asked)
        process = REFUSED if child is None else fork(child)
        if process == REFUSED:
            NEW(self, *given, **others)
            return
        self.pid, self._child_created = process, True
        self._close_pipe_fds(*(asked[name] for name in (
            "p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")))

    if FORKS:
        set_attribute(subprocess.Popen, "_execute_child", execute)


def fork_loaded(child: Child) -> int:
    """Fork the loaded process; only a launcher, which starts one process and waits, may be a copy of a bare call."""
    return fork_child(child.to_json(), child.environment) if child.launcher else REFUSED


def share() -> None:
    """In a fork of the loaded process: compile, and start children, as the test run does."""
    if (folder := os.environ.pop(compilations.SHARED, None)) is not None:
        compilations.take_the_place(Path(folder))
        take_the_place(fork_own)


def fork_own(child: Child) -> int:
    """Fork this process, which goes on."""
    return _fork(child, os.fork) if read_once(child.environment) == LOADED_WITH else REFUSED


def fork_for_parent(child: Child) -> int:
    """Fork this process so that its own parent is the parent of the new one, too."""
    return _fork(child, lambda: int(ctypes.CDLL(None).syscall(
        CLONE[platform.machine()], CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)))


def _fork(child: Child, fork: Callable[[], int]) -> int:
    """The descriptors are opened before: their owner closes them as soon as it has the answer."""
    if not may_fork():
        return REFUSED
    opened = {number: os.open(path, os.O_WRONLY if number else os.O_RDONLY) for number, path in child.files.items()}
    process = fork()
    if not process:
        _become(child, opened)
    for descriptor in opened.values():
        os.close(descriptor)
    return process


def _become(child: Child, opened: Mapping[int, int]) -> NoReturn:
    """Turn this fork into the child, and end with it."""
    try:
        if child.new_session:
            os.setsid()
        _keep_only(opened)
        _forget_the_parent()
        os.chdir(child.folder)
        os.environ.clear()
        os.environ.update(child.environment)
        given = child.environment.get("PYTHONPATH", "").split(os.pathsep)
        share()
        _set_threads(child.environment.get(THREADS, ""))
        sys.path[:] = list(dict.fromkeys(path for path in (child.folder, *given, *sys.path) if path))
    except BaseException:   # whatever it is: a fork never goes back to what its parent was doing
        traceback.print_exc()
        os._exit(1)
    if child.launcher:
        _launch(child)
    _run(child.arguments)


def _keep_only(opened: Mapping[int, int]) -> None:
    """Give descriptors their numbers, and close all others."""
    above = max([256, *opened]) + 1
    moved = {number: os.dup2(descriptor, above + k) for k, (number, descriptor) in enumerate(opened.items())}
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in moved.values() and int(name) not in moved:
            try:
                os.close(int(name))
            except OSError:
                continue   # that of the listing itself
    for number, descriptor in moved.items():
        os.dup2(descriptor, number)
        os.close(descriptor)


def _forget_the_parent() -> None:
    """What a new interpreter has not: handlers of signals, of messages, text that waits to be written."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)) and number != signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    tempfile.tempdir = None
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)


def _set_threads(count: str) -> None:
    """Let NumPy's products run on so many threads, as the variable does where NumPy is loaded later."""
    if count.isdecimal():
        loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "openblas" in line}
        for library in map(ctypes.CDLL, loaded):
            for name in SET_THREADS:
                if hasattr(library, name):
                    getattr(library, name)(min(int(count), len(os.sched_getaffinity(0))))


def _launch(child: Child) -> NoReturn:
    """Run the launcher, whose command is another fork."""
    def spawn(path: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
        process = os.fork()
        if not process:
            _keep_only({number: number for number in child.files})
            _run(child.arguments)
        return process

    os.posix_spawn = spawn
    sys.argv = [str(LAUNCHER), *child.launcher, sys.executable, "-m", *child.arguments]
    _end(lambda: runpy.run_path(str(LAUNCHER), run_name="__main__"))


def _run(arguments: Sequence[str]) -> NoReturn:
    """Run the module, as `python -m` does."""
    sys.argv = list(arguments)
    if "." in arguments[0]:
        sys.modules.pop(arguments[0], None)   # `runpy` warns of modules that are there already
    _end(lambda: runpy.run_module(arguments[0], run_name="__main__", alter_sys=True))


def _end(work: Callable[[], object]) -> NoReturn:
    """Work, and end as an interpreter does; what libraries and this process had registered for its end is left out."""
    status = 1
    try:
        work()
        status = 0
    except SystemExit as end:
        status = end.code & 0xFF if isinstance(end.code, int) else 0 if end.code is None else 1
        if status and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException:   # as an interpreter shows what nobody caught, interrupts too
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
