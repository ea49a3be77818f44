"""What is decided from recorded times alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.measure.field import Verdict
from polysched.measure.timing.race import Gain, gain_of
from polysched.pipeline.recipe import Recipe
from polysched.search.chooser import Decision
from polysched.search.limits import LIMITS
from polysched.search.trial import Trial, choose, contenders, finalists, renamed


def trial(name: str, ratios: list[float], **fields: object) -> Trial:
    return Trial(recipe=Recipe(fusion="max", vector_bits=int(name) if name.isdecimal() else None),
                 trace=(Decision("name", name),), pairs=tuple((1.0, 1 / r) for r in ratios), **fields)


def test_a_clear_gain_wins():
    choice = choose([trial("0", [1.2 + 0.001 * k for k in range(25)]), trial("128", [0.9] * 25)])
    assert choice.winner.trace[0].value == "0"
    assert choice.gain.low > 1.19
    assert choice.gain.median == pytest.approx(1.212)
    assert not choice.ties


def test_a_gain_whose_interval_holds_1_is_none_but_a_tie():
    noisy = trial("0", [0.9, 1.3] * 13)
    choice = choose([noisy])
    assert choice.winner is None
    assert choice.gain == Gain()
    assert choice.ties == (noisy,)
    assert str(choice.gain) == "1, the model's pick is kept"


def test_recipes_as_fast_as_the_winner_are_told():
    first, second = trial("0", [1.2, 1.21, 1.22] * 9), trial("128", [1.19, 1.2, 1.21] * 9)
    choice = choose([second, first])
    assert choice.winner is first
    assert choice.ties == (second,)


def test_few_samples_claim_nothing():
    assert choose([trial("0", [2.0, 2.1])]).winner is None
    assert gain_of([2.0, 2.1], 0.95).low == 1.0
    assert choose([]).winner is None


def test_more_finalists_ask_for_wider_intervals():
    ratios = [1 + 0.01 * (k - 7) for k in range(25)]
    assert gain_of(ratios, 1 - 0.05 / 3).low < gain_of(ratios, 0.95).low


def test_the_fastest_that_seem_faster_are_finalists():
    trials = [trial("0", [r] * 5) for r in (1.1, 0.9, 1.4, 1.2, 1.3)]
    trials.append(Trial(recipe=Recipe(fusion="none"), verdict=Verdict.WRONG, reason="C"))
    found = finalists(trials)
    assert [round(t.ratio, 1) for t in found] == [1.4, 1.3, 1.2][:LIMITS.finalists]


def test_more_get_a_second_race_than_the_last_one():
    trials = [trial(f"t{k}", [1 + k / 100] * 5) for k in range(30)]
    found = contenders(trials)
    assert len(found) == LIMITS.contenders > LIMITS.finalists
    assert found[:LIMITS.finalists] == finalists(trials)


def test_a_trial_tells_itself():
    assert str(trial("0", [1.25])) == "1.250 times as fast as the model's pick: fusion max; vector_bits 0"
    wrong = Trial(recipe=Recipe(), verdict=Verdict.WRONG, reason="C[0] is 1")
    assert str(wrong) == "wrong: C[0] is 1 (what the models choose)"
    assert (wrong.ratio, wrong.seconds) == (None, None)
    assert renamed(wrong, {"A": "B"}) == wrong


def test_disturbed_samples_claim_nothing():
    pairs = [(60.0, 2.4)] * 20 + [(1.0, 2.4)] * 5
    busy = replace(trial("fast under load", [1.0]), pairs=tuple(pairs), disturbed=tuple(range(20)), phase="confirm")
    assert busy.ratio == pytest.approx(1 / 2.4)
    assert choose([busy]).winner is None
    every = replace(busy, disturbed=tuple(range(25)))
    assert every.ratio == pytest.approx(25)
    assert (busy.seconds, every.seconds) == (2.4, None)
    choice = choose([every])
    assert (choice.winner, choice.ties) == (None, ())
    assert choose([replace(busy, disturbed=())]).winner is not None
