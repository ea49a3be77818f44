"""The experiment on whole networks: a compilation that fails or does not end is said, and nothing of it goes on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import RunFailedError
from polysched.experiment.folders import load_module

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "onnx" / "networks"
HANGS = """
import pathlib, subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
pathlib.Path(sys.argv[1]).with_name("inner").write_text(str(inner.pid))
time.sleep(100)
"""


def with_child(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (folder / "compiling.py").write_text(text)
    run: Any = load_module(EXPERIMENT / "run.py")
    monkeypatch.setattr(run, "__file__", str(folder / "run.py"))
    return run


def test_what_does_not_end_is_killed_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = with_child(HANGS, tmp_path, monkeypatch)
    monkeypatch.setattr(run, "MOST_SECONDS", 1.0)
    with pytest.raises(RunFailedError, match="did not end"):
        run._child(tmp_path / "model.onnx", dict(os.environ))
    inner = Path(f"/proc/{(tmp_path / 'inner').read_text()}/stat")
    until = time.monotonic() + 10        # a kill takes effect when the kernel next runs the process
    while not _ended(inner) and time.monotonic() < until:
        time.sleep(0.05)
    assert _ended(inner)


def _ended(stat: Path) -> bool:
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = with_child("raise SystemExit('no such file')", tmp_path, monkeypatch)
    with pytest.raises(RunFailedError, match="no such file"):
        run._child(tmp_path / "model.onnx", dict(os.environ))
