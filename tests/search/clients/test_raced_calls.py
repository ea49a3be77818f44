"""Codes of a call are raced by a search over recorded seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import pytest

from polysched.measure.field import Verdict
from polysched.pipeline.recipe import Recipe
from polysched.search.clients import raced_calls as racing
from polysched.search.clients.raced_calls import Call, fastest, raced_calls
from polysched.search.limits import LIMITS
from tests.search.programs import OPTIONS, product

PLAIN = Recipe(scheduler="original", tile="off")


@dataclass
class Clock:
    """Recorded seconds of a code, again and again, and how often it was called."""

    seconds: Iterator[float]
    calls: int = 0

    def __call__(self) -> tuple[float, float]:
        self.calls += 1
        own = next(self.seconds)
        return own, own


def code(name: str, *seconds: float, recipe: Recipe = PLAIN, **fields: object) -> Call:
    return Call(name=name, recipe=recipe, run=Clock(cycle(seconds)), code=name, **fields)


class Busy:
    """A machine on which everything is disturbed, or nothing."""

    def __init__(self, disturbed: bool) -> None:
        self.disturbed = disturbed

    def begin(self) -> None: ...

    def undisturbed(self, call: object) -> bool:
        return not self.disturbed


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racing, "watch", lambda *, shares_cores: Busy(False))


FIRST = 1.0


def raced(*others: Call, **how: object) -> Call | None:
    first = code("first", FIRST, recipe=Recipe())
    return fastest(raced_calls(product(), {"n": 64}, OPTIONS, first, others, **how))


def test_the_fastest_is_taken_and_nothing_where_the_first_one_is() -> None:
    slow, fast, faster = code("slow", 2.0), code("fast", 0.6), code("faster", 0.5)
    assert raced(slow, fast, faster) is faster
    assert raced(slow) is None
    assert slow.run.calls == 2, "a code that is too slow gets one pair each time"


def test_times_that_overlap_change_nothing() -> None:
    assert raced(code("noisy", 0.8, 1.4)) is None


def test_long_calls_get_as_few_pairs_as_an_interval_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racing, "LIMITS", replace(LIMITS, call_seconds=0.0))
    fast = code("fast", 0.5)
    assert raced(fast) is fast
    assert fast.run.calls == LIMITS.search_pairs + LIMITS.least_pairs


def test_on_a_busy_machine_all_samples_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(racing, "watch", lambda *, shares_cores: Busy(True))
    fast = code("fast", 0.5)
    assert raced(fast) is fast
    ((_, found),) = raced_calls(product(), {"n": 64}, OPTIONS, code("first", 1.0, recipe=Recipe()), [fast])
    assert found.gain.pairs == 0, "the record claims nothing"
    assert found.disturbed_share == 1.0


def test_what_is_refused_is_a_record_and_is_not_run(tmp_path: Path) -> None:
    lazy = code("lazy", 0.1, refused=lambda: "too slow", compiler="CPython")
    ((_, found),) = raced_calls(product(), {"n": 64}, OPTIONS, code("first", 1.0, recipe=Recipe()), [lazy],
                                database=tmp_path / "t.db")
    (trial,) = found.trials
    assert (trial.verdict, trial.reason, lazy.run.calls) == (Verdict.HUNG, "too slow", 0)
    assert found.key.place.compiler == "CPython"


def test_a_database_spares_the_calls(tmp_path: Path) -> None:
    once, again = code("fast", 0.5), code("fast", 5.0)
    assert raced(once, database=tmp_path / "t.db") is once
    assert raced(again, database=tmp_path / "t.db") is again
    assert again.run.calls == 0
    other = replace(again, code="other C")
    assert raced(other, database=tmp_path / "t.db") is None
    assert other.run.calls > 0
