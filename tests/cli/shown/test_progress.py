"""Progress: a step that takes long is shown while it runs, quick commands and --quiet say nothing."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from polysched.cli.shown import progress as module
from polysched.cli.shown.progress import progress


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)


def wait_for(said: Callable[[], str], words: str) -> None:
    """Wait until the words were said; the test's time limit ends a wait in vain."""
    text = ""
    for _ in range(600):
        text += said()
        if words in text:
            return
        time.sleep(0.05)
    raise AssertionError(f"{words!r} was not said, but {text!r}")


def test_a_long_step_is_shown_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as shown:
        shown.step("waiting")
        wait_for(lambda: capsys.readouterr().err, "polysched: waiting\n")
        shown.step("waiting")
        shown.step("more")
    assert capsys.readouterr().err == "polysched: more\n"


def test_quick_commands_say_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 60.0)
    with progress(quiet=False) as shown:
        shown.step("one")
        shown.step("two")
    assert capsys.readouterr().err == ""


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as shown:
        shown.step("one")
        time.sleep(0.2)
        shown.step("two")
        shown.count(2, 2, "programs")
    assert capsys.readouterr().err == ""


def test_stages_of_the_pipeline_are_steps(capsys: pytest.CaptureFixture[str]) -> None:
    stages = logging.getLogger("polysched.stages")
    with progress(quiet=False):
        time.sleep(0.15)
        stages.info("scheduling")
    stages.info("nobody listens any more")
    assert capsys.readouterr().err == "polysched: scheduling\n"
    assert not stages.handlers
    assert stages.propagate


def test_a_count_ends_with_all(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as shown:
        time.sleep(0.15)
        for done in range(1, 4):
            shown.count(done, 3, "programs")
    assert capsys.readouterr().err == "polysched: 3 of 3 programs\n"


def test_results_go_where_they_went_on_a_terminal_too(tmp_path: Path) -> None:
    """The moving line of a terminal must not catch what a command writes into a file."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    import os
    import subprocess
    import sys
    program = ("import time\nfrom polysched.cli.shown import progress as module\nmodule.PATIENCE_SECONDS = 0.05\n"
               "with module.progress(quiet=False) as shown:\n    shown.step('at work')\n    time.sleep(0.5)\n"
               "    print('a result', flush=True)\n    time.sleep(0.3)\n")
    main, other = pty.openpty()
    with (tmp_path / "out").open("w") as out:
        done = subprocess.run([sys.executable, "-c", program], stdout=out, stderr=other, timeout=60, check=False,
                              env={**os.environ, "TERM": "xterm"})
    os.close(other)
    shown = os.read(main, 100_000).decode()
    os.close(main)
    assert done.returncode == 0
    assert (tmp_path / "out").read_text() == "a result\n"
    assert "at work" in shown
