"""The process of a case: it reports the values, or a refusal in words, and says that it is done."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.experiment import case_child
from polysched.experiment.definition import Case, Settings
from polysched.measure.processes import child_side
from tests.measure.told import Told


def told(monkeypatch: pytest.MonkeyPatch, measure: Any, *, pin: bool = False, load: Any = None) -> list[dict[str, Any]]:
    """The reports of the process, and `exit` where it ended at once."""
    reporter = Told()
    settings = Settings(folder=Path("/e"), config={}, threads=(1, 3), budget_seconds=1.0, pin=pin)
    monkeypatch.setattr(child_side, "start", lambda arguments: ({}, reporter))
    monkeypatch.setattr(case_child, "settings_from", lambda request: (Case(name="one"), settings))
    monkeypatch.setattr(case_child, "load", load or (lambda folder: SimpleNamespace(measure=measure)))
    monkeypatch.setattr(case_child, "pinned_processors", lambda count: set(range(count)))
    monkeypatch.setattr(case_child.os, "sched_setaffinity", lambda own, cores: reporter.report(bound=sorted(cores)))
    monkeypatch.setattr(child_side.os, "_exit", lambda code: reporter.report(exit=code))
    child_side.serve(case_child.measure, [])
    return reporter.reports


def test_values_and_phases_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(case: Case, settings: Settings, report: Any) -> dict[str, Any]:
        report(f"timing {case.name}")
        return {"threads": max(settings.threads)}

    assert told(monkeypatch, measure) == [{"phase": "timing one"}, {"values": {"threads": 3}}, {"end": "finished"},
                                          {"exit": 0}]


def test_it_is_bound_before_the_experiment_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = told(monkeypatch, lambda case, settings, report: {}, pin=True)
    assert reports[0] == {"bound": [0, 1, 2]}


def refuse(*arguments: Any) -> Any:
    raise UsageError("no such kernel", hint="another")


@pytest.mark.parametrize("at", ["measure", "load"])
def test_a_refusal_is_a_result(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = told(monkeypatch, refuse, load=refuse if at == "load" else None)
    assert reports == [{"refused": str(UsageError("no such kernel", hint="another"))}, {"end": "finished"}, {"exit": 0}]


def test_too_little_memory_is_an_end_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*arguments: Any) -> Any:
        raise MemoryError

    assert told(monkeypatch, measure) == [{"end": "memory"}]


def test_an_error_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        told(monkeypatch, lambda *arguments: 1 / 0)
