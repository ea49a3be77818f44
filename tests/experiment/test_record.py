"""Records: a key of what was asked for, the last of each key, and refusals of other lines."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.experiment import record as tested
from polysched.experiment.definition import Case, Settings
from polysched.experiment.record import Record, append, key_of, latest, machines_of, make_record, read, record_from_json
from polysched.measure.timing.machine import Machine

MACHINE = Machine(cpu="Some CPU", isa=("avx2",), cores=4, caches={}, memory_bytes=1, system="Linux 6")
CASE = Case(name="gemm", parameters={"n": 5, "kind": "a"})
SETTINGS = Settings(folder=Path("/e"), config={}, threads=(1, 2), budget_seconds=1.0,
                    options={"log": "/tmp/x", "depth": 2}, local_options=("log",))


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Record:
    monkeypatch.setattr(tested, "describe_machine", lambda: MACHINE)
    monkeypatch.setattr(tested, "git_revision", lambda folder: "abc")
    return make_record("e", CASE, SETTINGS, status="done", problem="", values={"x": [1, None]}, seconds=1.23456,
                       started="now")


@pytest.mark.parametrize(("case", "settings", "machine", "same"), [
    (CASE, replace(SETTINGS, folder=Path("/elsewhere"), budget_seconds=99.0, config={"a": 1}), MACHINE, True),
    (CASE, replace(SETTINGS, options={"log": "/other", "depth": 2}), MACHINE, True),
    (replace(CASE, parameters={"kind": "a", "n": 5}), SETTINGS, replace(MACHINE, memory_bytes=9, system="x"), True),
    (replace(CASE, name="other"), SETTINGS, MACHINE, False),
    (replace(CASE, parameters={"n": 6, "kind": "a"}), SETTINGS, MACHINE, False),
    (CASE, replace(SETTINGS, threads=(2, 1)), MACHINE, False), (CASE, replace(SETTINGS, pin=True), MACHINE, False),
    (CASE, replace(SETTINGS, cold_cache=True), MACHINE, False),
    (CASE, replace(SETTINGS, options={"depth": 3}), MACHINE, False),
    (CASE, SETTINGS, replace(MACHINE, cores=8), False), (CASE, SETTINGS, replace(MACHINE, isa=()), False)])
def test_a_key_is_of_what_results_depend_on(case: Case, settings: Settings, machine: Machine, same: bool) -> None:
    assert (key_of("e", case, settings, machine) == key_of("e", CASE, SETTINGS, MACHINE)) == same


def test_another_experiment_has_another_key() -> None:
    assert key_of("e", CASE, SETTINGS, MACHINE) != key_of("f", CASE, SETTINGS, MACHINE)


def test_what_only_this_machine_needs_is_not_recorded(own: Record) -> None:
    assert own.options == {"depth": 2}
    assert replace(SETTINGS, pin=True).recorded_options == {"depth": 2, "pin": True}
    assert (own.seconds, own.git_revision, own.machine["cpu"]) == (1.235, "abc", "Some CPU")
    assert own.done
    assert not replace(own, status="crashed").done


def test_the_last_record_of_a_key_stands_where_the_first_did(own: Record) -> None:
    other = replace(own, key="k", case="other")
    again = replace(own, status="crashed")
    assert latest([own, other, again]) == (again, other)


def test_a_file_is_read_back(own: Record, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for record in (own, replace(own, key="k"), replace(own, seconds=9.0)):
        append(path, record)
    found = read(path, experiment="e")
    assert [(r.key, r.seconds) for r in found] == [(own.key, 9.0), ("k", 1.235)]
    assert found[0].machine_identity == own.machine_identity == ("Some CPU", ("avx2",), 4)
    with pytest.raises(UsageError, match="a record of the experiment e, not f"):
        read(path, experiment="f")


@pytest.mark.parametrize(("change", "problem"), [
    ({"kind": "measurement"}, "no record of an experiment in format 1"), ({"format_version": 2}, "in format 1"),
    ({"new": 1}, "not complete"), ({"case": None}, "not complete")])
def test_a_line_that_is_no_record_is_refused(change: dict[str, Any], problem: str, own: Record) -> None:
    value = json.loads(json.dumps(asdict(own))) | change
    if change == {"case": None}:
        del value["case"]
    with pytest.raises(UsageError, match=problem) as refused:
        record_from_json(value, "r.jsonl:3")
    assert "r.jsonl:3" in str(refused.value)


def test_machines_are_named_once(own: Record) -> None:
    other = replace(own, machine=dict(own.machine) | {"cores": 8})
    assert machines_of([own, other, own]) == ("Some CPU, 4 cores", "Some CPU, 8 cores")
