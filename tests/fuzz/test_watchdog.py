"""Watchdogs of child processes: what is told of an end, and that processes in one folder do not meet."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from polysched.fuzz.watchdog import place_of_end, watchdog

SLEEPS = """
import time
from polysched.fuzz.watchdog import watchdog

def sleeps():
    time.sleep(60)

with watchdog(0.2):
    sleeps()
"""


def test_what_takes_too_long_is_ended_and_told(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(SLEEPS)
    done = subprocess.run([sys.executable, "child.py"], cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 1
    assert place_of_end(tmp_path).startswith("sleeps (")


def test_what_ends_in_time_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with watchdog(60):
        assert place_of_end(tmp_path) == ""
    with pytest.raises(KeyError), watchdog(60):
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_blocks_in_one_folder_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "child.py").write_text(SLEEPS.replace("0.2", "60").replace("sleep(60)", "sleep(1.5)"))
    with subprocess.Popen([sys.executable, "child.py"]) as child:
        with watchdog(60):
            while len(list(tmp_path.iterdir())) < 3 and child.poll() is None:
                time.sleep(0.01)
            assert child.poll() is None, "both blocks run"
        assert child.wait(timeout=60) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["child.py"]
