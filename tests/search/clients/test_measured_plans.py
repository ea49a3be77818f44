"""Plans of an instruction are raced by a search; wrong ones and those that crash are records, and none is chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.emit_c.alternatives import instructions
from polysched.errors import RunFailedError
from polysched.measure.bit_for_bit import race as racing
from polysched.measure.field import Verdict
from polysched.pipeline import verified_replacements
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.search import optimize, tuning
from polysched.search.clients import measured_plans as measuring
from polysched.search.clients.measured_plans import measured_plans
from polysched.search.database import Database
from polysched.search.limits import LIMITS
from polysched.target import host
from polysched.tensorize import decision as deciding
from polysched.tensorize import match
from polysched.tensorize import options as choosing
from polysched.tensorize.emission import EmissionOptions, Emitted
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.program import tensorize
from tests.pipeline.replacements import PRODUCT, RIGHT


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tuning, "LIMITS", replace(LIMITS, search_pairs=3, again_pairs=3, confirm_pairs=3))
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(verified_replacements, "_KNOWN", {})


@pytest.fixture
def found() -> Match:
    return match(from_c_text(PRODUCT), RIGHT).matches[0]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second register block is added with the wrong sign, the third traps, the fourth is no C."""
    right = instructions.emit_match
    faults = {1: (" += r", " -= r"), 2: (" += r", " += (__builtin_trap(), 0) + r"),
              3: (" += r", " += no_such_name * r")}

    def emit(found: Match, name: str, options: EmissionOptions) -> Emitted:
        made = right(found, name, options)
        block = options.choice.block if options.choice is not None else 0
        old, new = faults.get(block, ("", ""))
        return replace(made, text=made.text.replace(old, new)) if old else made
    monkeypatch.setattr(instructions, "emit_match", emit)


def test_all_plans_are_ranked_behind_the_chosen_one(found: Match) -> None:
    race = measured_plans(tensorize(found), [found], target=host(), constant=("B",), compile_flags=("-O1",))
    assert not race.refused
    assert len({str(m.plan) for m in race.ranked}) == len(race.ranked) > 1
    assert all(m.seconds for m in race.ranked)
    assert race.gain.pairs == 0, "three pairs claim nothing, so that the first plan is kept"
    assert race.ranked[0].choice == next(iter(measuring.plan_candidates([found], target=host()))).choice


def raced(seconds: dict[int, float]) -> Any:
    """A race with recorded seconds by register block; that of other blocks is 2."""
    def run(checks: Any, *, rounds: int, **_: Any) -> tuple[racing.Raced, ...]:
        every.append([c.entry for c in checks])
        return tuple(racing.Raced(entry=c.entry, seconds=(seconds.get(_block(c), 2.0),) * rounds,
                                  clean=(True,) * rounds) for c in checks)
    every: list[list[str]] = []
    return run, every


def _block(check: Any) -> int:
    return next(b for b, text in TEXTS.items() if text == check.replaced_text.replace(check.entry, ""))


TEXTS: dict[int, str] = {}


@pytest.fixture
def known(found: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of the first plan of every register block."""
    for candidate in measuring.plan_candidates([found], target=host()):
        check = measuring.replacement_check(
            measuring.with_plan(tensorize(found), candidate), entry="plan1", parallel=True, emulated=False)
        monkeypatch.setitem(TEXTS, candidate.choice.block, check.replaced_text.replace("plan1", ""))


def test_a_plan_is_taken_by_the_interval_of_its_gain_and_kept_in_a_database(
        found: Match, known: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tuning, "LIMITS", LIMITS)
    run, every = raced({1: 0.5, 2: 1.0})
    monkeypatch.setattr(measuring, "race", run)
    database = tmp_path / "tuned.db"
    once = measured_plans(tensorize(found), [found], target=host(), database=database)
    assert once.ranked[0].choice.block == 1
    assert once.gain.median == pytest.approx(4.0)
    assert once.gain.pairs == LIMITS.confirm_pairs
    measured = len(every)
    again = measured_plans(tensorize(found), [found], target=host(), database=database)
    assert len(every) == measured, "the same C is not measured again"
    assert again.ranked[0].choice == once.ranked[0].choice
    with Database(database, read_only=True) as opened:
        ((key, _),) = opened.tasks()
        assert key.place.is_of_client
        assert {t.verdict for t in opened.trials(key)} == {Verdict.TIMED}


def test_records_stay_where_the_first_plan_is_wrong(
        found: Match, known: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tuning, "LIMITS", LIMITS)
    timed, every = raced({1: 0.5, 2: 1.0})
    first = next(iter(measuring.plan_candidates([found], target=host()))).choice.block

    def run(checks: Any, *, rounds: int, **how: Any) -> tuple[racing.Raced, ...]:
        return tuple(racing.Raced(entry=r.entry, verdict=Verdict.WRONG, refusal="wrong") if _block(c) == first else r
                     for c, r in zip(checks, timed(checks, rounds=rounds, **how), strict=True))
    monkeypatch.setattr(measuring, "race", run)
    once, again = [(measured_plans(tensorize(found), [found], target=host(), database=tmp_path / "tuned.db"),
                    len(every)) for _ in range(2)]
    assert once[1] == again[1] > 0, "neither the wrong plan nor the others run again"
    for race, _ in (once, again):
        assert race.ranked[0].choice.block == 1
        assert {r.choice.block for r in race.refused} == {first}


def test_wrong_and_crashing_plans_are_never_chosen(found: Match, planted: None) -> None:
    race = measured_plans(tensorize(found), [found], target=host(), compile_flags=("-O1",))
    assert race.ranked
    assert {m.choice.block for m in race.ranked} <= {0, 4, 5, 6, 7}
    why = {m.choice.block: m.reason for m in race.refused}
    assert "C[0][0] has to be " in why[1]
    assert "crashed with SIG" in why[2]
    assert "refused the plan" in why[3]


def test_the_chosen_plan_is_emitted_and_the_others_are_told(planted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "INTRINSICS", {RIGHT.name: RIGHT})
    monkeypatch.setattr("polysched.tensorize.registry.INTRINSICS", {RIGHT.name: RIGHT})
    monkeypatch.setattr(choosing, "executes_here", lambda _: True)
    wanted = TensorizeOptions(intrinsic=RIGHT.name, measure=True)
    made = optimize(from_c_text(PRODUCT), PipelineOptions(tensorize=wanted))
    told = [s for s in made.steps() if s.startswith("instruction: ")]
    assert ", measured: " in told[0]
    assert any("a plan is not used: " in s and "has to be" in s for s in told)
    assert any("verified: S0: lanes_of_four equals the statement" in s for s in told)


def test_no_right_plan_is_an_error(found: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "race", lambda checks, **_: tuple(
        racing.Raced(entry=c.entry, verdict=Verdict.WRONG, refusal="wrong") for c in checks))
    decision = deciding.Decision(program=tensorize(found), reasons=("S0: by a test",), rivals=(found,))
    with pytest.raises(RunFailedError, match="no plan of lanes_of_four computes the statement"):
        measuring.with_fastest_plan(decision, PipelineOptions(parallel=False))
