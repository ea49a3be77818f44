"""What explains the times of made-up trials."""

from __future__ import annotations

import random

import pytest

from polysched.measure.field import Verdict
from polysched.pipeline.recipe import Recipe
from polysched.search.chooser import Decision
from polysched.search.importance import importance, model_agreement
from polysched.search.trial import Trial


def trials(count: int) -> list[Trial]:
    draw = random.Random(0)
    made = []
    for _ in range(count):
        edge, block, colour = draw.choice((8, 16, 32)), draw.choice((True, False)), draw.choice("rgb")
        seconds = edge * (1.2 if block else 1.0) * draw.uniform(0.99, 1.01)
        made.append(Trial(recipe=Recipe(), predicted_seconds=float(edge), pairs=((1.0, seconds),), trace=(
            Decision("edge", edge), Decision("block", block), Decision("colour", colour), Decision("always", 1))))
    return made


def test_the_choice_that_decides_comes_first_and_others_explain_little():
    found = importance(trials(200))
    assert next(iter(found)) == "edge"
    assert found["edge"] > 0.9
    assert found.get("colour", 0.0) < 0.05
    assert "always" not in found


def test_few_trials_explain_nothing():
    assert importance(trials(5)) == {}
    assert model_agreement(trials(5)) is None


def test_the_model_is_compared_with_the_times():
    made = trials(100)
    assert model_agreement(made) > 0.9
    turned = [Trial(recipe=t.recipe, predicted_seconds=-t.predicted_seconds, pairs=t.pairs) for t in made]
    assert model_agreement(turned) == pytest.approx(-model_agreement(made))
    wrong = Trial(recipe=Recipe(), verdict=Verdict.WRONG, reason="x", predicted_seconds=1e9)
    assert model_agreement([*made, wrong]) == model_agreement(made)
