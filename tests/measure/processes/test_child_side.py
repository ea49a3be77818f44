"""What a child does first: its request, its reports, and limits that are never higher than before."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.measure.processes import child_side
from polysched.measure.processes.child_side import BYTES_PER_THREAD, GRACE_SECONDS, Reporter

INFINITE = resource.RLIM_INFINITY
SHOW = """
import json, os, resource, sys
from polysched.measure.processes.child_side import limit_this_process
os.cpu_count = lambda: 7
limit_this_process(**json.loads(sys.argv[1]))
print(json.dumps([resource.getrlimit(getattr(resource, f"RLIMIT_{n}")) for n in ("CORE", "CPU", "FSIZE", "STACK")]))
"""
Limit = tuple[int, int]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[int, Limit]:
    """The limits of a pretended process, which maps a mebibyte on a machine of seven cores."""
    held: dict[int, Limit] = dict.fromkeys(range(20), (INFINITE, INFINITE))
    monkeypatch.setattr(child_side.resource, "getrlimit", held.__getitem__)
    monkeypatch.setattr(child_side.resource, "setrlimit", held.__setitem__)
    monkeypatch.setattr(child_side.sys, "platform", "elsewhere")
    monkeypatch.setattr(child_side, "_mapped_bytes", lambda: 1 << 20)
    monkeypatch.setattr(child_side.os, "cpu_count", lambda: 7)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return held


def test_reports_are_one_line_each_and_other_programs_do_not_inherit_the_pipe() -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    reporter = Reporter(write_end)
    assert not os.get_inheritable(write_end)
    reporter.report(text="two\nlines", number=1.5)
    reporter.phase("looking")
    lines = os.read(read_end, 4096).decode().splitlines()
    os.close(read_end)
    assert [json.loads(line) for line in lines] == [{"text": "two\nlines", "number": 1.5}, {"phase": "looking"}]


@pytest.mark.parametrize(("value", "threads"), [
    (None, 7), ("", 7), ("3", 3), (" 3 ", 3), ("0", 7), ("4,2", 8), ("2, 3, 1", 6), ("all", 7), ("-1", 7), ("4,", 7)])
def test_memory_has_room_for_the_stacks_of_all_threads(
        value: str | None, threads: int, limits: dict[int, Limit], monkeypatch: pytest.MonkeyPatch) -> None:
    if value is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    child_side.limit_this_process(memory_bytes=1000, cpu_seconds=5)
    bytes_allowed = (1 << 20) + 1000 + threads * BYTES_PER_THREAD
    assert limits[resource.RLIMIT_AS] == (bytes_allowed, bytes_allowed)


def test_a_signal_comes_before_the_kill(limits: dict[int, Limit]) -> None:
    child_side.limit_this_process(memory_bytes=1000, cpu_seconds=5, file_bytes=77)
    assert limits[resource.RLIMIT_CPU] == (5, 5 + GRACE_SECONDS)
    assert limits[resource.RLIMIT_FSIZE] == (77, 77)
    assert limits[resource.RLIMIT_CORE] == (0, 0)


@pytest.mark.parametrize(("hard", "expected"), [(INFINITE, (5, 15)), (100, (5, 15)), (12, (5, 12)), (5, (5, 5)),
                                                (3, (3, 3))])
def test_a_limit_is_never_raised(hard: int, expected: Limit, limits: dict[int, Limit]) -> None:
    limits[resource.RLIMIT_CPU] = (min(hard, 4), hard)
    child_side.limit_this_process(memory_bytes=1000, cpu_seconds=5)
    assert limits[resource.RLIMIT_CPU] == expected


def test_the_kernel_takes_these_limits(tmp_path: Path) -> None:
    asked = json.dumps({"memory_bytes": 1 << 30, "cpu_seconds": 50, "file_bytes": 1 << 20})
    done = subprocess.run([sys.executable, "-c", SHOW, asked], capture_output=True, text=True, check=True, cwd=tmp_path,
                          env=dict(os.environ) | {"OMP_NUM_THREADS": "2,1", "PYTHONPATH": os.pathsep.join(sys.path)})
    core, cpu, file, stack = json.loads(done.stdout)
    assert (core, cpu[0], file[0]) == ([0, 0], 50, 1 << 20)
    assert stack[0] == stack[1]


def test_a_child_whose_launcher_is_gone_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"limits": {"memory_bytes": 1, "cpu_seconds": 1}, "asked": [1, "x"]}))
    ended: list[int] = []
    told: list[dict[str, int]] = []
    monkeypatch.setattr(child_side, "limit_this_process", lambda **values: told.append(values))
    monkeypatch.setattr(child_side.sys, "platform", "linux")
    monkeypatch.setattr(child_side.os, "_exit", ended.append)
    monkeypatch.setattr(child_side.os, "getpgrp", lambda: 41)
    for parent, ends in ((41, 0), (1, 1)):
        monkeypatch.setattr(child_side.os, "getppid", lambda own=parent: own)
        read_end, write_end = os.pipe()
        found, reporter = child_side.start(["program", str(request), str(write_end)])
        reporter.report(end="finished")
        assert found["asked"] == [1, "x"]
        assert os.read(read_end, 100) == b'{"end": "finished"}\n'
        os.close(read_end)
        assert len(ended) == ends
    assert told == [{"memory_bytes": 1, "cpu_seconds": 1}] * 2
