"""Run untrusted code in a child process: its end, whatever it is, is data for the parent.

The child is a Python process in a session and process group of its own, with a limit on wall time, CPU
time and memory and no core file.  It reports by lines of JSON on a pipe; each line restarts the wall clock,
so the limit is one on the time between two reports.  When the child ends, in any way, its whole process group
is killed; when the parent dies, the kernel kills the child.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from polysched.target.one_line import OneLine

logger = logging.getLogger(__name__)

MEBIBYTE = 1 << 20
STDERR_KEPT_BYTES = 4096
NEAR_THE_LIMIT = 0.8
LAUNCHER = Path(__file__).with_name("launcher.py")
CHILD_FILE = "child"


class End(Enum):
    """How a child ended."""

    FINISHED = "finished"  # it said that it was done
    CRASHED = "crashed"    # by a signal that it caused itself
    HUNG = "hung"          # no report within the limit; killed
    MEMORY = "memory"      # it needed more memory than the limit
    FAILED = "failed"      # it ended by itself without saying that it was done


@dataclass(frozen=True, kw_only=True)
class Limits(OneLine):
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
class ChildEnd(OneLine):
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
                 on_report: Callable[[Mapping[str, Any]], None] | None = None) -> ChildEnd:
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
    """
    request_file = folder / "request.json"
    request_file.write_text(json.dumps(dict(request) | {"limits": {
        "memory_bytes": limits.memory_bytes, "cpu_seconds": limits.cpu_seconds, "file_bytes": limits.file_bytes}}))
    read_end, write_end = os.pipe()
    started = time.monotonic()
    search_path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    variables = {**os.environ, **(environment or {}), "PYTHONPATH": search_path}
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), CHILD_FILE,
             sys.executable, "-m", module, str(request_file), str(write_end)], cwd=folder,
            env={name: value for name, value in variables.items() if value is not None},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            pass_fds=(write_end,), start_new_session=True)
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    assert child.stderr is not None
    watch = _Watch(report_fd=read_end, error_fd=child.stderr.fileno(), on_report=on_report)
    try:
        hung = not watch.until_ended(child.pid, limits.seconds, start_seconds or limits.seconds)
    finally:
        _end(child, folder)
        watch.drain()
        os.close(read_end)
        child.stderr.close()
    return _judge(watch, child.returncode, hung=hung, seconds=time.monotonic() - started,
                  peak_bytes=_peak_bytes(folder), limits=limits)


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


class _Watch:
    """Read the reports and the standard error of a child until it ends or stops reporting."""

    def __init__(self, *, report_fd: int, error_fd: int,
                 on_report: Callable[[Mapping[str, Any]], None] | None) -> None:
        self.reports: list[Mapping[str, Any]] = []
        self.error_output = b""
        self._fds = (report_fd, error_fd)
        self._rest = b""
        self._on_report = on_report
        self._selector = selectors.DefaultSelector()
        for fd in self._fds:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)

    def until_ended(self, pid: int, seconds: float, start_seconds: float) -> bool:
        """Whether the child ended by itself, never more than `seconds` after its last report."""
        deadline = time.monotonic() + start_seconds
        while True:
            if self._read_available(timeout=0.02):
                deadline = time.monotonic() + seconds
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            if time.monotonic() > deadline:
                return False

    def drain(self) -> None:
        """Read what is left in the pipes after the child's end."""
        while self._read_available(timeout=0):
            pass
        self._selector.close()

    def _read_available(self, *, timeout: float) -> bool:
        """Read once from each pipe that has something; whether a whole report came."""
        if not self._selector.get_map():
            time.sleep(timeout)
            return False
        reported = False
        for key, _ in self._selector.select(timeout):
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
