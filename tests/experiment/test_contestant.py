"""A contestant in Python: it restores before it calls, reports one line per call, and writes what it computed."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from polysched.experiment import contestant
from polysched.experiment.contestant import Entry, program, timed
from polysched.measure.measurement import Build
from polysched.measure.processes.perf_counters import PerfCounters
from polysched.measure.timing.cold_cache import FlushMemory

BUILD = Build(compiler="gcc", version="gcc 12", flags=("-O3",), source_sha256="0" * 64, compile_seconds=0.1)


class Noting:
    """An entry that writes down what is asked of it."""

    def __init__(self, build: Build | None = None) -> None:
        self.did: list[str] = []
        self.entry = Entry(call=lambda: self.did.append("call"), restore=lambda: self.did.append("restore"),
                           results=lambda: {"calls": np.array([self.did.count("call")])}, note="a note", build=build)


NO_COUNTERS = cast(PerfCounters, SimpleNamespace(read=dict))


def test_caches_are_flushed_between_the_inputs_and_the_call() -> None:
    own = Noting()
    cold = cast(FlushMemory, SimpleNamespace(walk=lambda: own.did.append("flush")))
    line = timed(own.entry, NO_COUNTERS, "sample", cold)
    assert own.did == ["restore", "flush", "call"]
    word, wall, thread, process, switches = line.split()
    assert word == "sample"
    assert all(float(value) >= 0 for value in (wall, thread, process))
    assert int(switches) >= 0
    assert line.endswith("\n")


def answers(monkeypatch: pytest.MonkeyPatch, folder: Path, asked: str, own: Noting) -> list[str]:
    """What it answers to these lines."""
    request = folder / "request.json"
    request.write_text(json.dumps({"how": "right"}))
    output = folder / "answers"
    given: list[Any] = []
    monkeypatch.setattr(contestant.sys, "argv", ["contestant", "file.py", "make", str(request)])
    monkeypatch.setattr(contestant.sys, "stdin", io.StringIO(asked))
    monkeypatch.setattr(contestant.sys, "platform", "elsewhere")
    monkeypatch.setattr(contestant.os, "dup", lambda fd: fd)
    monkeypatch.setattr(contestant.os, "dup2", lambda a, b: given.append((a, b)))
    monkeypatch.setattr(contestant.os, "fdopen", lambda fd, mode, buffering: output.open("w", buffering=1))
    monkeypatch.setattr(contestant, "PerfCounters", lambda: NO_COUNTERS)
    monkeypatch.setattr(contestant, "load_module", lambda path: SimpleNamespace(
        make=lambda parameters: (given.append(parameters), own.entry)[1]))
    contestant.main()
    assert given == [(2, 1), {"how": "right"}]
    return output.read_text().splitlines()


def test_it_answers_each_line_and_ends_with_the_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, path = Noting(BUILD), tmp_path / "with space.npz"
    lines = answers(monkeypatch, tmp_path, f"run 1 2\nresults {path}\nrun 0 1\n", own)
    assert json.loads(lines[0].removeprefix("built ")) == json.loads(json.dumps(asdict(BUILD)))
    assert [line.split()[0] for line in lines[1:]] == [
        "ready", "warmup", "sample", "sample", "done", "done", "sample", "done"]
    assert lines[1] == "ready a note"
    assert own.did == ["restore", "call"] * 4
    with np.load(path) as stored:
        assert stored["calls"].tolist() == [3]


def test_nothing_is_said_of_a_build_that_was_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(monkeypatch, tmp_path, "", Noting()) == ["ready a note"]


def test_memory_to_flush_with_is_allocated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, made = Noting(), list[Any]()
    monkeypatch.setattr(contestant, "flush_from", lambda words: words or None)
    monkeypatch.setattr(contestant, "FlushMemory", lambda flush: made.append(flush) or SimpleNamespace(
        walk=lambda: own.did.append("flush")))
    answers(monkeypatch, tmp_path, "run 1 1 100 20 0 1\nrun 0 1 100 20 0 1\n", own)
    assert made == [["100", "20", "0", "1"]]
    assert own.did == ["restore", "flush", "call"] * 3


def test_parameters_are_in_a_file_of_the_contestants_name(tmp_path: Path) -> None:
    words = program(Path("f.py"), "make", {"x": [1, 2]}, tmp_path, "gcc -O3/x")
    assert Path(words[-1]) == tmp_path / "gcc_-O3_x.json"
    assert json.loads(Path(words[-1]).read_text()) == {"x": [1, 2]}
