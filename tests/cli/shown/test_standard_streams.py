"""Standard streams that are closed, full or no longer read, with and without Python's own buffer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.cli.shown.standard_streams import heard_errors, written_output
from polysched.errors import OutputError
from tests.cli.command import REFUSED, SCALING

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
BUFFERED, AT_ONCE = {"PYTHONUNBUFFERED": ""}, {"PYTHONUNBUFFERED": "1"}


def ended(words: str, redirection: str, environment: dict[str, str]) -> tuple[int, str, str]:
    """What a command line ends with whose streams a shell redirects, and what it says."""
    done = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "polysched",
                           *words.split()], capture_output=True, text=True, check=False, timeout=120,
                          env=os.environ | environment)
    return done.returncode, done.stdout, done.stderr


class Broken:
    """A stream on a real file that takes nothing."""

    def __init__(self, error: OSError, file: int) -> None:
        self.error, self.file, self.encoding = error, file, "utf-8"

    def write(self, text: str) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error

    def fileno(self) -> int:
        return self.file


@needs_full
@pytest.mark.parametrize("environment", [BUFFERED, AT_ONCE], ids=["buffered", "at once"])
@pytest.mark.parametrize(("redirection", "why"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")])
def test_an_output_that_takes_nothing_is_refused(redirection: str, why: str, environment: dict[str, str]) -> None:
    code, _, told = ended("--help", redirection, environment)
    assert code == REFUSED
    assert told == f"polysched: standard output: the output cannot be written: {why}\n"


@pytest.mark.parametrize("environment", [BUFFERED, AT_ONCE], ids=["buffered", "at once"])
def test_a_reader_that_left_ends_it_quietly(environment: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as pipe:
        done = subprocess.run([sys.executable, "-m", "polysched", "--help"], stdout=pipe, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=120, env=os.environ | environment)
    assert (done.returncode, done.stderr) == (0, "")


@needs_full
@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_words_that_nobody_hears_change_nothing(redirection: str, tmp_path: Path) -> None:
    source, made = tmp_path / "in.c", tmp_path / "out.c"
    assert ended("c2c", redirection, BUFFERED)[:2] == (REFUSED, "")
    source.write_text(SCALING)
    assert ended(f"c2c -v {source} -o {made}", redirection, BUFFERED)[0] == 0
    assert "scaling" in made.read_text()


def test_a_lost_reader_of_the_errors_does_not_end_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "f").open("w") as file:
        before = Broken(BrokenPipeError(), file.fileno())
        monkeypatch.setattr(sys, "stderr", before)
        with heard_errors():
            assert sys.stderr.encoding == "utf-8"
            print("scheduling", file=sys.stderr, flush=True)
        assert sys.stderr is before


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(28, "full")])
def test_what_ends_the_body_is_told_first(error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "f").open("w") as file:
        monkeypatch.setattr(sys, "stdout", Broken(error, file.fileno()))
        with pytest.raises(ZeroDivisionError), written_output():
            raise ZeroDivisionError
        with pytest.raises(BrokenPipeError if isinstance(error, BrokenPipeError) else OutputError), written_output():
            raise SystemExit(0)
