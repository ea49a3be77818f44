"""Progress in plain lines: what was done, what is to do, and a word after some silence."""

from __future__ import annotations

import pytest

from polysched.experiment import progress
from polysched.experiment.progress import PATIENCE_SECONDS, CaseProgress, case_progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: False, raising=False)
    return now


def test_cases_are_counted_and_problems_told(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with case_progress(2, skipped=1, quiet=False) as shown:
        shown.started("gemm")
        shown.phase("compiling")
        shown.finished("gemm", "")
        shown.finished("lu", "it crashed")
    assert capsys.readouterr().err.splitlines() == [
        "polysched: 1 case is done already, 2 to go", "polysched: [1/2] gemm", "polysched: [2/2] lu: it crashed"]


def test_a_long_case_says_what_it_does_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with case_progress(1, skipped=0, quiet=False) as shown:
        shown.started("gemm")
        for step in range(5):
            clock[0] = step * 0.6 * PATIENCE_SECONDS
            shown.phase(f"step {step}")
    assert capsys.readouterr().err.splitlines() == ["polysched: gemm: step 2", "polysched: gemm: step 4"]


@pytest.mark.parametrize(("verbose", "lines"), [(True, 2), (False, 0)])
def test_details_are_told_when_asked_for(verbose: bool, lines: int, clock: list[float],
                                         capsys: pytest.CaptureFixture[str]) -> None:
    with case_progress(1, skipped=0, quiet=False, verbose=verbose) as shown:
        shown.phase("one")
        shown.phase("two")
    assert len(capsys.readouterr().err.splitlines()) == lines


def test_quiet_is_quiet(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with case_progress(3, skipped=2, quiet=True, verbose=True) as shown:
        shown.started("gemm")
        shown.phase("compiling")
        shown.finished("gemm", "it crashed")
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_removed_whatever_happens(clock: list[float], monkeypatch: pytest.MonkeyPatch,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with case_progress(2, skipped=0, quiet=False) as shown:
        shown.started("gemm")
        shown.phase("compiling [not markup]")
        shown.finished("gemm", "")
        shown.finished("lu", "crashed [with] brackets")
    assert not shown._bar.live.is_started
    assert "[2/2] lu: crashed [with] brackets" in capsys.readouterr().err
    with pytest.raises(KeyError):
        fail_inside(stopped := [])
    assert not stopped[0]._bar.live.is_started


def fail_inside(kept: list[CaseProgress]) -> None:
    with case_progress(2, skipped=0, quiet=False) as shown:
        kept.append(shown)
        raise KeyError
