"""Pairs in blocks: every end of a pair is its verdict, and none is another pair's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from polysched.errors import NoIntrinsicMatchError, UnsupportedScopError
from polysched.fuzz.matches import worker
from polysched.fuzz.matches.attempt import Emission
from polysched.fuzz.matches.harness import Version
from polysched.fuzz.matches.pairs import Pair, pair
from polysched.fuzz.matches.records import CRASH, MATCHED, REFUSED, TIMEOUT, WRONG
from polysched.fuzz.matches.worker import Outcome, checked
from polysched.measure.processes.child_side import Reporter
from tests.measure.told import Told

Made = Callable[[Pair, int], list[Emission]]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Programs that are not read, descriptions that are not loaded, and versions that are as `wrong` says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker, "WATCHDOG_FACTOR", 1e5)   # it would end this process
    values: dict[str, Any] = {"made": lambda own, size: [Emission(f"match {size}", "", "")], "wrong": {},
                              "unread": set(), "loaded": lambda own: own, "ran": []}

    def scops(asked: Sequence[Outcome], size: int, folder: Path) -> dict[int, Any]:
        bad = [o for o in asked if (o.pair.seed, size) in values["unread"]]
        if bad:
            raise UnsupportedScopError("cannot be read", where="f.c")
        return {o.pair.seed: object() for o in asked}

    def compared(versions: Sequence[Version], folder: Path, compiler: object) -> dict[str, str]:
        values["ran"] += [v.label for v in versions]
        return {v.label: values["wrong"].get(v.label, "") for v in versions}

    monkeypatch.setattr(worker, "_scops", scops)
    monkeypatch.setattr(worker, "load", lambda own, folder: values["loaded"](own))
    monkeypatch.setattr(worker, "emissions", lambda scop, unit, own, size: values["made"](own, size))
    monkeypatch.setattr(worker, "compared", compared)
    return values


def verdicts(*seeds: int, seconds: float = 10.0) -> list[tuple[str, str]]:
    return [(o.verdict, o.reason) for o in checked([pair(s) for s in seeds], seconds=seconds)]


def raising(error: BaseException, seed: int, at: int = 0) -> Made:
    def made(own: Pair, size: int) -> list[Emission]:
        if own.seed == seed and size == at:
            raise error
        return [Emission(f"match {size}", "", "")]
    return made


def test_a_match_at_both_sizes_is_run_at_both(stage: dict[str, Any]) -> None:
    assert verdicts(8, 16) == [(MATCHED, "match 0")] * 2
    assert stage["ran"] == ["8_0_0", "8_1_0", "16_0_0", "16_1_0"]


@pytest.mark.parametrize(("label", "told"), [("16_0_0", "off | size 0: match 0"), ("16_1_0", "off | size 1: match 1")])
def test_one_wrong_version_is_enough(label: str, told: str, stage: dict[str, Any]) -> None:
    stage["wrong"] = {label: "off"}
    assert verdicts(8, 16) == [(MATCHED, "match 0"), (WRONG, told)]


@pytest.mark.parametrize(("error", "verdict", "reason"), [
    (NoIntrinsicMatchError("no match", where="f", witness="two\nlines"), REFUSED, "no match"),
    (KeyError("x"), CRASH, "KeyError: 'x' | made ("), (RecursionError(), CRASH, "RecursionError:  | made (")])
@pytest.mark.parametrize("size", [0, 1])
def test_an_exception_is_a_verdict_and_leaves_the_others(error: BaseException, verdict: str, reason: str, size: int,
                                                         stage: dict[str, Any]) -> None:
    stage["made"] = raising(error, 8, size)
    first, second = verdicts(8, 16)
    assert first[0] == verdict
    assert reason in first[1]
    assert "\n" not in first[1]
    assert second == (MATCHED, "match 0")
    assert not any(label.startswith("8_") for label in stage["ran"])


def test_a_program_that_cannot_be_read_is_found_among_the_others(stage: dict[str, Any]) -> None:
    stage["unread"] = {(16, 1)}
    first, second, third = verdicts(8, 16, 24)
    assert first == third == (MATCHED, "match 0")
    assert second[0] == REFUSED
    assert "cannot be read" in second[1]


def test_a_refused_description_is_loaded_once_and_told_of_all_its_pairs(stage: dict[str, Any]) -> None:
    loaded: list[int] = []

    def load(own: Pair) -> Any:
        loaded.append(own.seed)
        raise UnsupportedScopError("no tables", where="unit.py")

    stage["loaded"] = load
    outcomes = checked([pair(s) for s in (8, 9, 16)])
    assert loaded == [8, 16]   # neighbours share their description
    assert [(o.verdict, o.loaded) for o in outcomes] == [(REFUSED, False)] * 3


def test_more_time_than_there_is(stage: dict[str, Any]) -> None:
    def forever(own: Pair, size: int) -> list[Emission]:
        while True:
            pass

    stage["made"] = forever
    ((verdict, reason),) = verdicts(8, seconds=0.02)
    assert verdict == TIMEOUT
    assert reason.startswith("not done after 0.02 seconds; it was in forever")


def test_reports_name_the_pair_that_is_looked_at_and_records_come_block_by_block(
        stage: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.gc, "disable", lambda: None)
    told = Told()
    worker.check_pairs({"check": [8, 16, 24], "block": 2, "limit_seconds": 5.0}, cast(Reporter, told))
    assert [r["result"]["seed"] for r in told.reports if "result" in r] == [8, 16, 24]
    looked = [r["seed"] for r in told.reports if "seed" in r]
    assert looked == [8, None, 16, None] * 2 + [24, None] * 2
    assert not list(Path.cwd().iterdir())


def test_a_smaller_pair_has_the_same_verdict(stage: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told()
    asked: list[tuple[str, str | None]] = []

    def shrink(own: Pair, fault: Callable[[Pair], str | None], *, deadline: float) -> None:
        for wrong in ({}, {"8_0_0": "off"}):
            stage["wrong"] = wrong
            asked.append(("wrong" if wrong else "right", fault(own)))

    monkeypatch.setattr(worker, "shrink", shrink)
    worker.shrink_pair({"shrink": 8, "verdict": WRONG, "limit_seconds": 5.0, "seconds": 9.0}, cast(Reporter, told))
    assert asked == [("right", None), ("wrong", "off | size 0: match 0")]
    assert [r["text"].splitlines()[-1] for r in told.reports if "text" in r] == [
        "What is wrong: off | size 0: match 0"]
