"""The process between a measurement and its child: what it writes down, and that it ends as the command ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.measure.processes.isolation import LAUNCHER


def launched(folder: Path, *command: str) -> tuple[int, list[int]]:
    """The status that it ends with, and the numbers in its file."""
    done = subprocess.run([sys.executable, "-I", "-S", str(LAUNCHER), "child", *command], cwd=folder, check=False,
                          env={"GIVEN": "7"})
    return done.returncode, [int(n) for n in (folder / "child").read_text().split()]


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_it_ends_with_the_status_of_its_command(status: int, tmp_path: Path) -> None:
    returned, (child, peak) = launched(tmp_path, "/bin/sh", "-c", f"echo $$ > own; exit {status}")
    assert returned == status
    assert child == int((tmp_path / "own").read_text())
    assert 100 << 10 < peak < 64 << 20


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGKILL])
def test_it_ends_by_the_signal_of_its_command(number: signal.Signals, tmp_path: Path) -> None:
    assert launched(tmp_path, "/bin/sh", "-c", f"kill -{int(number)} $$")[0] == -number
    assert sorted(os.listdir(tmp_path)) == ["child"]   # no core file


def test_the_peak_is_the_commands_own(tmp_path: Path) -> None:
    _, (_, small) = launched(tmp_path, sys.executable, "-I", "-S", "-c", "pass")
    _, (_, large) = launched(tmp_path, sys.executable, "-I", "-S", "-c", "b'x' * (60 << 20)")
    assert 50 << 20 < large - small < 70 << 20


def test_the_command_has_the_environment_that_was_given(tmp_path: Path) -> None:
    assert launched(tmp_path, "/bin/sh", "-c", "exit $GIVEN")[0] == 7
