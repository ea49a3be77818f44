"""Who takes part in a race: what is right and computes these sizes itself."""

from __future__ import annotations

import ctypes
from typing import Any, cast

import numpy as np
import pytest

from polysched.measure.bit_for_bit import race_run
from polysched.measure.bit_for_bit.corner_values import SMALL
from polysched.measure.processes.child_side import Reporter
from tests.measure.bit_for_bit.one_sum import item, library
from tests.measure.told import Told


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return library(tmp_path_factory.mktemp("sums"))


def raced(sums: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch, *entries: str, rounds: int = 3) -> list[dict[str, Any]]:
    monkeypatch.setattr(race_run.ctypes, "CDLL", lambda name: sums)
    told = Told()
    race_run.race({"original": "", "replaced": "", "rounds": rounds, "quiet": SMALL, "shares_cores": False,
                   "checks": [item(e) for e in entries]}, cast(Reporter, told))
    return told.reports


def timed(reports: list[dict[str, Any]]) -> list[str]:
    return [r["timed"] for r in reports if "timed" in r]


def test_rounds_begin_with_another_code_each(sums: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    assert timed(raced(sums, monkeypatch, "right", "again")) == ["right", "again", "again", "right", "right", "again"]


def test_what_is_wrong_or_does_nothing_has_no_time(sums: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = raced(sums, monkeypatch, "skips", "wrong", "beside", "right")
    assert timed(reports) == ["right"] * 3
    assert [next(iter(r)) for r in reports if {"skipped", "difference", "stray", "equal"} & set(r)] == [
        "skipped", "difference", "stray", "equal"]


def test_every_report_stands_behind_the_name_of_its_code(sums: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ""
    for report in raced(sums, monkeypatch, "right", "wrong", "again"):
        entry = report.get("entry", entry)
        assert report.get("timed", entry) == entry
        if "difference" in report:
            assert entry == "wrong"


def test_codes_work_on_the_same_memory_and_start_from_the_same_values(
        sums: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = raced(sums, monkeypatch, "right", "again")
    assert len({r["seconds"] for r in reports if "timed" in r}) == 1   # here a time is the first element of the sum
    first, second = (race_run.Racer(item(e), sums, sums) for e in ("right", "again"))
    second.share(first, SMALL)
    assert second.passed()[1].value == first.arrays[0].values.ctypes.data
    assert (np.abs(first.arrays[0].values) <= 3).all()
