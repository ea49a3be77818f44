"""From the command line to an exit code: refusals, interruptions, a closed pipe, and how loud it is."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from polysched.cli import entry
from polysched.errors import PolyschedError, RunFailedError, UsageError, WrongResultError

Stage = dict[str, Any]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """One command, `do WORD`, which does what `does` says; it keeps its arguments."""
    values: Stage = {"does": lambda arguments: 0}

    def run(arguments: Any) -> Any:
        values["arguments"] = arguments
        return values["does"](arguments)

    command = SimpleNamespace(NAME="do", HELP="Do it.", EPILOG="examples:\n  polysched do", run=run,
                              add_arguments=lambda parser: parser.add_argument("word", nargs="?"))
    monkeypatch.setattr(entry, "COMMANDS", (command,))
    level = logging.getLogger().level
    yield values
    logging.getLogger().setLevel(level)


def raising(error: BaseException) -> Any:
    def does(arguments: Any) -> Any:
        raise error
    return does


def test_the_exit_code_is_the_commands(stage: Stage) -> None:
    for code in (0, 5, True):
        stage["does"] = lambda arguments, code=code: code
        found = entry.main(["do"])
        assert (type(found), found) == (int, int(code))


def test_missing_memory_is_told_without_a_traceback(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage["does"] = raising(MemoryError("Unable to allocate 8.00 GiB"))
    assert entry.main(["do"]) == RunFailedError.exit_code
    assert capsys.readouterr().err == "polysched: there is not enough memory: Unable to allocate 8.00 GiB\n"


@pytest.mark.parametrize("kind", [UsageError, RunFailedError, WrongResultError])
def test_a_refusal_is_told_without_a_traceback(kind: type[PolyschedError], stage: Stage,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    refusal = kind("no such thing", where="f.c:3", hint="another")
    stage["does"] = raising(refusal)
    assert entry.main(["do"]) == kind.exit_code
    captured = capsys.readouterr()
    assert captured.err == f"polysched: {refusal}\n"
    assert "hint: another" in captured.err
    assert captured.out == ""


def test_an_error_of_our_own_is_not_hidden(stage: Stage) -> None:
    stage["does"] = raising(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        entry.main(["do"])


def test_an_interruption_is_told(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage["does"] = raising(KeyboardInterrupt())
    assert entry.main(["do"]) == entry.INTERRUPTED
    assert capsys.readouterr().err == "polysched: interrupted\n"


def test_termination_unwinds_the_stack_and_the_handler_is_put_back(stage: Stage) -> None:
    unwound: list[str] = []

    def does(arguments: Any) -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.sigtimedwait([], 5)   # the handler runs at the next instruction
        finally:
            unwound.append("yes")
        return 0

    before = signal.getsignal(signal.SIGTERM)
    stage["does"] = does
    with pytest.raises(SystemExit) as ended:
        entry.main(["do"])
    assert ended.value.code == entry.TERMINATED
    assert unwound == ["yes"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_who_reads_no_further_ends_it_quietly(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage["does"] = raising(BrokenPipeError())
    assert entry.main(["do"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("words", "loudness"), [
    (["do"], (0, 0)), (["-v", "do"], (1, 0)), (["do", "-v"], (1, 0)), (["do", "-vv"], (2, 0)), (["do", "-q"], (0, 1)),
    (["-q", "do"], (0, 1)), (["-vv", "do", "-v"], (1, 0))])
def test_loudness_stands_in_front_of_the_command_or_behind_it(words: list[str], loudness: tuple[int, int],
                                                              stage: Stage) -> None:
    assert entry.main(words) == 0
    assert (stage["arguments"].verbose, stage["arguments"].quiet) == loudness


@pytest.mark.parametrize("words", [[], ["undo"], ["do", "a", "--nonsense"], ["do", "a", "b"]])
def test_what_is_no_command_line_is_refused(words: list[str], stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        entry.main(words)
    assert ended.value.code == 2
    assert "polysched" in capsys.readouterr().err
    assert "arguments" not in stage


def test_the_version_is_told(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        entry.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"polysched {entry.__version__}\n"
