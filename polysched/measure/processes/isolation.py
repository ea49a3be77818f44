"""Run untrusted code in a child process: its end, whatever it is, is data for the parent.

The child is a Python process in a session and process group of its own, with a limit on wall time, CPU
time and memory and no core file.  It reports by lines of JSON on a pipe; each line restarts the wall clock,
so the limit is one on the time between two reports.  When the child ends, in any way, its whole process group
is killed; when the parent dies, the kernel kills the child.

`run_isolated` waits for the end of a child; a `Conversation` asks one child for several things, one after the other.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from polysched.records import dataclass

logger = logging.getLogger(__name__)

MEBIBYTE = 1 << 20
STDERR_KEPT_BYTES = 4096
NEAR_THE_LIMIT = 0.8
POLL_SECONDS = 0.02
"""Between two looks at a child where the system does not tell its end; each look takes time from what is measured."""
LAUNCHER = Path(__file__).with_name("launcher.py")
CHILD_FILE = "child"


class Stop:
    """Ends children that other threads wait for, at once and for good."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.number, self._write_end = os.pipe()

    def set(self) -> None:
        """End them; those that are started later end at their start."""
        self._event.set()
        os.write(self._write_end, b"\n")

    def is_set(self) -> bool:
        """Whether they were ended."""
        return self._event.is_set()

    def close(self) -> None:
        """Give the pipe back, when no thread waits any more."""
        os.close(self.number)
        os.close(self._write_end)


class End(Enum):
    """How a child ended."""

    FINISHED = "finished"  # it said that it was done
    CRASHED = "crashed"    # by a signal that it caused itself
    HUNG = "hung"          # no report within the limit; killed
    MEMORY = "memory"      # it needed more memory than the limit
    FAILED = "failed"      # it ended by itself without saying that it was done


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a child may use.

    Parameters
    ----------
    seconds : wall time between two reports of the child.
    memory_bytes : address space beyond what the interpreter itself takes.
    cpu_seconds : CPU time of all its threads together, a backstop.
    file_bytes : size of the largest file that it may write.
    """

    seconds: float = 60.0
    memory_bytes: int = 8 << 30
    cpu_seconds: int = 24 * 3600
    file_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        if min(self.seconds, self.memory_bytes, self.cpu_seconds, self.file_bytes) <= 0:
            raise ValueError("limits are positive")


@dataclass(frozen=True, kw_only=True)
class ChildEnd:
    """What is left of a child.

    Parameters
    ----------
    end : how it ended.
    reports : everything that it reported, in order.
    phase : what it was doing at the end, by its last report.
    signal_name : the signal that ended a crashed child, `SIGSEGV` for instance.
    exit_status : what it returned by itself.
    seconds : wall time from start to end.
    peak_bytes : largest resident memory; 0 where it is not known.
    error_output : the end of its standard error.
    limits : what it was allowed.
    """

    end: End
    reports: tuple[Mapping[str, Any], ...]
    phase: str
    signal_name: str | None
    exit_status: int | None
    seconds: float
    peak_bytes: int
    error_output: str
    limits: Limits

    def describe(self) -> str:
        """The end in one sentence without a full stop."""
        doing = f" while it was {self.phase}" if self.phase else ""
        match self.end:
            case End.FINISHED:
                return f"finished after {self.seconds:.1f} seconds"
            case End.CRASHED:
                return f"crashed with {self.signal_name} after {self.seconds:.1f} seconds{doing}"
            case End.HUNG if self.signal_name is not None:
                return f"hung: used up {self.limits.cpu_seconds} seconds of CPU time{doing}"
            case End.HUNG:
                return f"hung: no progress for {self.limits.seconds:g} seconds{doing}"
            case End.MEMORY:
                return f"ran out of memory: the limit is {self.limits.memory_bytes // MEBIBYTE} MiB{doing}"
            case End.FAILED:
                return f"ended by itself with exit status {self.exit_status}{doing}"


def run_isolated(module: str, request: Mapping[str, Any], *, folder: Path, limits: Limits,
                 environment: Mapping[str, str | None] | None = None, start_seconds: float | None = None,
                 on_report: Callable[[Mapping[str, Any]], None] | None = None, stop: Stop | None = None) -> ChildEnd:
    """Run `python -m module REQUEST.json FD` in isolation and wait for its end.

    Parameters
    ----------
    module : a module that reads the request and reports by `measure.processes.child_side.Reporter`.
    request : what it gets, as JSON; the limits are added under `limits`.
    folder : its working directory, a private one that the caller removes.
    environment : variables that are set for it, beside the parent's; None removes one.
    start_seconds : wall time until its first report: its interpreter starts and loads, which takes seconds on a busy
        machine; as between any two reports where None.
    on_report : called in the parent for every report, as it comes.
    stop : by which another thread ends it; whoever asked for that must not believe how it ended, but its reports.
    """
    with _Child(module, request, folder=folder, limits=limits, environment=environment, on_report=on_report,
                stop=stop) as child:
        ended = child.watch.until(child.number, limits.seconds, start_seconds or limits.seconds)
    return child.judged(hung=ended is _Until.SILENT, limits=limits)


class Conversation:
    """One child that is asked for several things, one after the other; a context manager.

    The child reads lines of JSON from the descriptor that its request has under `questions`, and ends each answer with
    a report that has `answered`.  While it waits for a line no clock runs.

    Parameters
    ----------
    module, request, folder, limits, environment, on_report : as of `run_isolated`; one conversation at a time in a
        folder.
    """

    def __init__(self, module: str, request: Mapping[str, Any], *, folder: Path, limits: Limits,
                 environment: Mapping[str, str | None] | None = None,
                 on_report: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        self._make = partial(_Child, module, request, folder=folder, limits=limits, environment=environment,
                             on_report=on_report)
        self._limits = limits

    def __enter__(self) -> Self:
        read_end, self._questions = os.pipe()
        try:
            self._child = self._make(questions=read_end)
        except BaseException:
            os.close(self._questions)
            raise
        finally:
            os.close(read_end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        os.close(self._questions)
        self._child.close()

    def ask(self, question: Mapping[str, Any], *, seconds: float | None = None) -> ChildEnd | None:
        """Ask, and take reports until the answer is whole; how the child ended where it ended instead.

        Parameters
        ----------
        seconds : without a report for so long the child is hung; the limit of the conversation where none is given.
        """
        try:
            os.write(self._questions, json.dumps(question).encode() + b"\n")
        except BrokenPipeError:
            logger.debug("the child had ended before it was asked")
        return self.listen("answered", seconds=seconds)

    def listen(self, last: str, *, seconds: float | None = None) -> ChildEnd | None:
        """Take reports until one has the field `last`; how the child ended where it ended instead."""
        limit = self._limits.seconds if seconds is None else seconds
        ended = self._child.watch.until(self._child.number, limit, limit, last=last)
        if ended is _Until.SAID:
            return None
        self._child.close()
        return self._child.judged(hung=ended is _Until.SILENT, limits=replace(self._limits, seconds=limit))


class _Child:
    """The process, and what it has reported; a context manager that ends it."""

    def __init__(self, module: str, request: Mapping[str, Any], *, folder: Path, limits: Limits,
                 environment: Mapping[str, str | None] | None, questions: int | None = None,
                 on_report: Callable[[Mapping[str, Any]], None] | None, stop: Stop | None = None) -> None:
        self._folder = folder
        request_file = folder / "request.json"
        (folder / CHILD_FILE).unlink(missing_ok=True)
        request_file.write_text(json.dumps(dict(request) | {"questions": questions, "limits": {
            "memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds, "file_bytes": limits.file_bytes}}))
        read_end, write_end = os.pipe()
        self._started = time.monotonic()
        self._ended: float | None = None
        search_path = os.pathsep.join(p or os.getcwd() for p in sys.path)
        variables = {**os.environ, **(environment or {}), "PYTHONPATH": search_path}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(LAUNCHER), CHILD_FILE,
                 sys.executable, "-m", module, str(request_file), str(write_end)], cwd=folder,
                env={name: value for name, value in variables.items() if value is not None},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                pass_fds=(write_end, *(() if questions is None else (questions,))), start_new_session=True)
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        assert self._process.stderr is not None
        self._read_end, self.number = read_end, self._process.pid
        self.watch = _Watch(report_fd=read_end, error_fd=self._process.stderr.fileno(), pid=self.number,
                            on_report=on_report, stop=stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill what is left of it, and read what it still said."""
        if self._ended is not None:
            return
        _end(self._process, self._folder)
        self._ended = time.monotonic()
        self.watch.drain()
        os.close(self._read_end)
        assert self._process.stderr is not None
        self._process.stderr.close()

    def judged(self, *, hung: bool, limits: Limits) -> ChildEnd:
        """How it ended, under which limits."""
        assert self._ended is not None
        return _judge(self.watch, self._process.returncode, hung=hung, seconds=self._ended - self._started,
                      peak_bytes=_peak_bytes(self._folder), limits=limits)


def _end(launcher: subprocess.Popen[bytes], folder: Path) -> None:
    """Kill the child, so that its launcher reaps it and says what it used, then every process left in their group."""
    try:
        child = int((folder / CHILD_FILE).read_text().split()[0])
        if os.getpgid(child) == launcher.pid:
            os.kill(child, signal.SIGKILL)
            os.waitid(os.P_PID, launcher.pid, os.WEXITED | os.WNOWAIT)
    except (FileNotFoundError, IndexError, ProcessLookupError):
        logger.debug("the child of %d had not started, or had ended", launcher.pid)
    try:
        os.killpg(launcher.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        logger.debug("process group %d was empty", launcher.pid)
    launcher.wait()


def _peak_bytes(folder: Path) -> int:
    """The largest resident memory of the child; 0 where its launcher was killed before it could tell."""
    try:
        return int((folder / CHILD_FILE).read_text().split()[1])
    except (FileNotFoundError, IndexError):
        return 0


class _Until(Enum):
    """What ended a wait for a child."""

    ENDED = "ended"
    SAID = "said"
    SILENT = "silent"
    STOPPED = "stopped"


class _Watch:
    """Read the reports and the standard error of a child until it ends or stops reporting."""

    def __init__(self, *, report_fd: int, error_fd: int, pid: int,
                 on_report: Callable[[Mapping[str, Any]], None] | None, stop: Stop | None = None) -> None:
        self.reports: list[Mapping[str, Any]] = []
        self.error_output = b""
        self._fds = (report_fd, error_fd)
        self._rest = b""
        self._on_report, self._stop = on_report, stop
        self._selector = selectors.DefaultSelector()
        for fd in self._fds:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)
        self._process = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        if self._process is not None:
            self._selector.register(self._process, selectors.EVENT_READ)
        if stop is not None:
            self._selector.register(stop.number, selectors.EVENT_READ)

    def until(self, pid: int, seconds: float, start_seconds: float, *, last: str | None = None) -> _Until:
        """Read until the child ended, said what is waited for, or was silent for `seconds` after its last report.

        Parameters
        ----------
        last : the field of a report that ends the wait; None waits for the end of the child.
        """
        deadline = time.monotonic() + start_seconds
        while True:
            before = len(self.reports)
            left = max(0.0, deadline - time.monotonic())
            if self._read_available(timeout=left if self._process is not None else min(left, POLL_SECONDS)):
                deadline = time.monotonic() + seconds
            if last is not None and any(last in report for report in self.reports[before:]):
                return _Until.SAID
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return _Until.ENDED
            if self._stop is not None and self._stop.is_set():
                return _Until.STOPPED
            if time.monotonic() > deadline:
                return _Until.SILENT

    def drain(self) -> None:
        """Read what is left in the pipes after the child's end."""
        while self._read_available(timeout=0):
            pass
        self._selector.close()
        if self._process is not None:
            os.close(self._process)

    def _read_available(self, *, timeout: float) -> bool:
        """Read once from each pipe that has something; whether a whole report came."""
        if not self._selector.get_map():
            time.sleep(timeout)
            return False
        reported = False
        for key, _ in self._selector.select(timeout):
            if key.fd == self._process or (self._stop is not None and key.fd == self._stop.number):
                continue
            data = os.read(key.fd, 65536)
            if not data:
                self._selector.unregister(key.fd)
            elif key.fd == self._fds[1]:
                self.error_output = (self.error_output + data)[-STDERR_KEPT_BYTES:]
            else:
                reported |= self._take(data)
        return reported

    def _take(self, data: bytes) -> bool:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            report = json.loads(line)
            self.reports.append(report)
            if self._on_report is not None:
                self._on_report(report)
        return bool(lines)


def _how_it_ended(watch: _Watch, returncode: int, *, hung: bool, crossed_limit: bool) -> End:
    """How the child ended: what it reported last counts most, then its silence, its memory, and its exit status."""
    said = next((report["end"] for report in reversed(watch.reports) if "end" in report), None)
    if said in (End.FINISHED.value, End.MEMORY.value):
        return End(said)
    if hung:
        return End.HUNG
    if returncode != 0 and (crossed_limit or returncode == -signal.SIGKILL):   # killed from outside
        return End.MEMORY
    if returncode == -signal.SIGXCPU:
        return End.HUNG
    return End.CRASHED if returncode < 0 else End.FAILED


def _judge(watch: _Watch, returncode: int, *, hung: bool, seconds: float, peak_bytes: int,
           limits: Limits) -> ChildEnd:
    """Decide how the child ended from its reports, its exit status and the memory it used."""
    end = _how_it_ended(watch, returncode, hung=hung, crossed_limit=peak_bytes > NEAR_THE_LIMIT * limits.memory_bytes)
    phases = [r["phase"] for r in watch.reports if "phase" in r]
    return ChildEnd(
        end=end, reports=tuple(watch.reports), phase=phases[-1] if phases else "",
        signal_name=signal.Signals(-returncode).name if returncode < 0 and not hung else None,
        exit_status=returncode if returncode >= 0 else None, seconds=seconds, peak_bytes=peak_bytes,
        error_output=watch.error_output.decode("utf-8", "replace").strip(), limits=limits)
