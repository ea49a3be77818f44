"""Plans are verified and timed in a process of their own; wrong ones and those that crash are records."""


from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.emit_c.alternatives import instructions
from polysched.errors import RunFailedError
from polysched.measure.bit_for_bit import race as racing
from polysched.pipeline import measured_plans as measuring
from polysched.pipeline import optimize, verified_replacements
from polysched.pipeline.measured_plans import measured_plans
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
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
    monkeypatch.setattr(racing, "ROUNDS", 3)
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


def test_the_fastest_comes_first(found: Match) -> None:
    race = measured_plans(tensorize(found), [found], target=host(), constant=("B",), compile_flags=("-O1",))
    assert not race.refused
    assert [m.median_seconds for m in race.ranked] == sorted(m.median_seconds for m in race.ranked)
    assert len({str(m.plan) for m in race.ranked}) > 1
    assert all(len(m.seconds) == 3 for m in race.ranked)


def test_wrong_and_crashing_plans_are_never_chosen(found: Match, planted: None) -> None:
    race = measured_plans(tensorize(found), [found], target=host(), compile_flags=("-O1",))
    assert race.ranked
    assert {m.choice.block for m in race.ranked} == {0}
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
        racing.Raced(entry=c.entry, refusal="wrong") for c in checks))
    decision = deciding.Decision(program=tensorize(found), reasons=("S0: by a test",), rivals=(found,))
    with pytest.raises(RunFailedError, match="no plan of lanes_of_four computes the statement"):
        measuring.with_fastest_plan(decision, target=host(), parallel=False)


def test_nothing_is_measured_without_rivals(found: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise AssertionError("it runs")
    monkeypatch.setattr(measuring, "race", run)
    decision = deciding.Decision(program=tensorize(found), reasons=("S0: by a test",))
    assert measuring.with_fastest_plan(decision, target=host(), parallel=False) is decision
