"""Limits of time on a block of Python: left by an exception that says where it was, or ended by a watchdog."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from polysched.fuzz.time_limit import OutOfTime, place_of_end, time_limit, watchdog


def spin() -> None:
    while True:
        math.sqrt(2.0)


def test_a_block_that_takes_too_long_is_left() -> None:
    with pytest.raises(OutOfTime, match=r"not done after 0\.05 seconds; it was in spin \(fuzz/test_time_limit\.py"), \
            time_limit(0.05):
        spin()


def test_waiting_takes_no_processor_time() -> None:
    with time_limit(0.05):
        time.sleep(0.15)
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 0, "the limit still waits for processor time"


def test_what_was_set_before_is_set_again() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with time_limit(10):
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 0
    assert signal.getsignal(signal.SIGPROF) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_errors_of_the_block_pass_and_end_the_limit() -> None:
    with pytest.raises(KeyError), time_limit(10):
        raise KeyError
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_there_is_none_without_an_end_or_in_another_thread() -> None:
    seen: list[tuple[float, float]] = []

    def limited() -> None:
        with time_limit(0.001):
            seen.append(signal.getitimer(signal.ITIMER_PROF))
    thread = threading.Thread(target=limited)
    thread.start()
    thread.join()
    with time_limit(math.inf):
        seen.append(signal.getitimer(signal.ITIMER_PROF))
    assert seen == [(0.0, 0.0)] * 2


SLEEPS = """
import time
from polysched.fuzz.time_limit import watchdog

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
