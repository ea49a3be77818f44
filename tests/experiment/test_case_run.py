"""One case in its process: what it is asked, what it hears of threads, and what its end becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.experiment import case_run
from polysched.experiment.case_run import UNWANTED, CaseRequest, digest_of, run_case, settings_from, thread_variables
from polysched.experiment.definition import Case, Settings
from polysched.measure.processes.isolation import ChildEnd, End, Limits
from tests.experiment.toy import write_toy

ENDED = ChildEnd(end=End.FINISHED, reports=(), phase="counting", signal_name=None, exit_status=0, seconds=2.0,
                 peak_bytes=0, error_output="", limits=Limits(seconds=9))
VALUES = {"values": {"count": 3}}


@pytest.fixture
def request_(tmp_path: Path) -> CaseRequest:
    folder = write_toy(tmp_path)
    settings = Settings(folder=folder, config={}, threads=(2, 4), budget_seconds=0.5, cold_cache=True,
                        options={"cases": ["one"], "log": ""}, local_options=("log",))
    return CaseRequest(experiment="toy", case=Case(name="one", parameters={"length": 3}), settings=settings,
                       run_digest=digest_of(folder), limits=Limits(seconds=9))


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """How the child ends; it keeps what it was asked."""
    stage: dict[str, Any] = {"ended": replace(ENDED, reports=(VALUES,))}

    def run(module: str, asked: Mapping[str, Any], *, on_report: Callable[[Mapping[str, Any]], None],
            **other: Any) -> ChildEnd:
        stage["asked"] = asked
        stage.update(other)
        for report in stage["ended"].reports:
            on_report(report)
        return stage["ended"]  # type: ignore[no-any-return]

    monkeypatch.setattr(case_run, "run_isolated", run)
    return stage


@pytest.mark.parametrize(("changes", "status", "problem"), [
    ({"reports": (VALUES,)}, "done", ""),
    ({"reports": (VALUES, {"refused": "no such kernel"})}, "refused", "no such kernel"),
    ({"end": End.FAILED, "exit_status": 1, "reports": (VALUES,), "error_output": "Traceback\nValueError: x\n"},
     "failed", "the case's process ended by itself with exit status 1 while it was counting - ValueError: x"),
    ({"end": End.CRASHED, "signal_name": "SIGSEGV"}, "crashed",
     "the case's process crashed with SIGSEGV after 2.0 seconds while it was counting"),
    ({"end": End.HUNG}, "hung", "the case's process hung: no progress for 9 seconds while it was counting"),
    ({"end": End.MEMORY}, "memory",
     "the case's process ran out of memory: the limit is 8192 MiB while it was counting"),
    ({}, "finished", "the case's process finished after 2.0 seconds")])
def test_an_end_is_a_record(changes: dict[str, Any], status: str, problem: str, request_: CaseRequest,
                            child: dict[str, Any]) -> None:
    child["ended"] = replace(ENDED, **changes)
    record = run_case(request_)
    assert (record.status, record.problem) == (status, problem)
    assert record.values == (VALUES["values"] if status == "done" else {})
    assert (record.experiment, record.case, record.options) == ("toy", "one", {"cases": ["one"], "cold_cache": True})


def test_phases_are_heard_and_nothing_else(request_: CaseRequest, child: dict[str, Any]) -> None:
    heard: list[str] = []
    child["ended"] = replace(ENDED, reports=({"phase": "one"}, VALUES, {"phase": "two"}))
    run_case(request_, heard.append)
    assert heard == ["one", "two"]


def test_the_child_gets_the_settings_again(request_: CaseRequest, child: dict[str, Any]) -> None:
    run_case(request_)
    case, settings = settings_from(child["asked"])
    assert case == request_.case
    own = request_.settings
    assert settings.config["question"]
    assert replace(settings, config={}, local_options=("log",)) == own
    assert child["limits"] == request_.limits


def test_threads_are_the_same_for_every_library_and_nothing_else_is_set(request_: CaseRequest,
                                                                        child: dict[str, Any]) -> None:
    run_case(request_)
    found = child["environment"]
    assert {found[n] for n in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")} == {
        "4"}
    assert all(found[name] is None for name in UNWANTED)
    pinned = thread_variables(4, pin=True)
    assert all(pinned[name] == value for name, value in thread_variables(4, pin=False).items() if name not in UNWANTED)


def test_files_that_changed_are_not_measured(request_: CaseRequest, child: dict[str, Any]) -> None:
    folder = request_.settings.folder
    (folder / "notes.md").write_text("no Python")
    run_case(request_)
    (folder / "helper.py").write_text("")
    with pytest.raises(UsageError, match="not those with which the run began"):
        run_case(request_)
    (folder / "helper.py").unlink()
    run_case(request_)
    (folder / "run.py").rename(folder / "other.py")
    with pytest.raises(UsageError, match="not those with which the run began"):
        run_case(replace(request_, run_digest=digest_of(folder)))


def test_a_digest_knows_names_and_contents_apart(tmp_path: Path) -> None:
    digests = set()
    for names in ({"a.py": "bc"}, {"ab.py": "c"}, {"a.py": "b", "b.py": "c"}, {"a.py": "", "b.py": "bc"}, {}):
        folder = tmp_path / str(len(digests))
        folder.mkdir()
        for name, text in names.items():
            (folder / name).write_text(text)
        digests.add(digest_of(folder))
    assert len(digests) == 5
