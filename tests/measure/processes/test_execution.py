"""Programs that run on their own: they end, crash, or are ended."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from polysched.measure.processes.execution import Ran, run_program


def test_output_and_status() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert run_program([sys.executable, "-c", code], seconds=60) == Ran(output="out\n", errors="err\n", status=3)


def test_a_crash_is_a_status() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGABRT)"
    assert run_program([sys.executable, "-c", code], seconds=60).status == -signal.SIGABRT


def test_what_was_said_in_time_is_kept() -> None:
    command = ["sh", "-c", "echo begun; exec sleep 60"]
    assert run_program(command, seconds=1) == Ran(output="begun\n", errors="", status=None)


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    code = "import sys; sys.stdout.buffer.write(bytes([255, 10]))"
    assert run_program([sys.executable, "-c", code], seconds=60) == Ran(output="\ufffd\n", errors="", status=0)


def test_it_runs_in_its_folder(tmp_path: Path) -> None:
    ran = run_program([sys.executable, "-c", "import os; print(os.getcwd())"], seconds=60, folder=tmp_path)
    assert Path(ran.output.strip()).samefile(tmp_path)
