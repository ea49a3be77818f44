"""A learned correction ranks better than the projected model where that is wrong, and nothing before it has learned."""

from __future__ import annotations

from math import inf

import pytest

from polysched.errors import UsageError
from polysched.experiment.candidates import rank_correlation
from polysched.pipeline.recipe import Recipe
from polysched.search import models
from polysched.search.limits import LIMITS
from polysched.search.models import MODELS, Boosted, Projected, Residual
from polysched.search.space import Explorer, Proposal
from polysched.search.trial import Trial
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, product

EDGES = (4, 8, 16, 32, 64)


def template(choose, dependences):
    return Recipe(bands={0: BandOptions(register=False, sizes=tuple(
        choose.one_of(f"edge {k}", EDGES) for k in range(3)))})


def true_seconds(recipe: Recipe) -> float:
    """Long rows are dear, which no model of ours says."""
    return 1.0 + recipe.bands[0].sizes[1] / 8


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(template, product(), OPTIONS, {"n": 512})


@pytest.mark.parametrize("name", MODELS)
def test_what_is_learned_ranks_what_was_not_seen(explorer, name):
    if name == "boosted":
        pytest.importorskip("xgboost", reason="the extra polysched[tune] is not installed")
    model = MODELS[name](explorer)
    proposals = list(explorer.enumerate())
    trials = [Trial(recipe=p.recipe, trace=p.trace, pairs=((1.0, true_seconds(p.recipe)),)) for p in proposals]
    model.learn(trials[::2])
    found = rank_correlation([{"predicted_seconds": model.seconds(p), "measured_seconds": [true_seconds(p.recipe)]}
                              for p in proposals[1::2]])
    assert found is not None
    assert (found > 0.9) == (name != "projected")


def test_few_trials_teach_nothing(explorer):
    model, plain = Residual(explorer), Projected(explorer)
    proposal = next(explorer.enumerate())
    model.learn([Trial(recipe=proposal.recipe, trace=proposal.trace, pairs=((1.0, 9.0),))] * (
        LIMITS.least_to_learn - 1))
    assert model.seconds(proposal) == plain.seconds(proposal)


def test_a_recipe_without_a_schedule_is_ranked_last_and_counted(explorer):
    from polysched.scheduling.primitives import Reverse
    model = Projected(explorer)
    before = explorer.rejections.total
    assert model.seconds(Proposal(recipe=Recipe(steps=(Reverse(loop="k"),)))) == inf
    assert explorer.rejections.total == before + 1


def test_a_missing_package_is_told(explorer, monkeypatch):
    monkeypatch.setattr(models.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs the package xgboost"):
        Boosted(explorer)


def test_spills_are_learned_and_guessed_for_the_same_register_blocks(explorer):
    """Recipes that the other features do not tell apart from each other's times: only spills explain those."""
    model = Residual(explorer)
    blocks = {register: [Proposal(recipe=Recipe(bands={0: BandOptions(register=register, sizes=(64, edge, 64))}))
                         for edge in (64, 128, 256, 512)] for register in (False, True)}
    spilled = {False: 0, True: 60}
    for register, proposals in blocks.items():
        for proposal in proposals[:3]:
            model.compiled(proposal, spilled[register])
    guessed = {register: model.features_of(proposals[3])[-1] for register, proposals in blocks.items()}
    assert guessed[False] == 0.0
    assert guessed[True] == pytest.approx(5.93, abs=0.01)
    model.compiled(blocks[True][3], 3)
    assert model.features_of(blocks[True][3])[-1] == 2.0, "its own code is known now"
    unlike = Proposal(recipe=Recipe(vector_bits=0))
    assert 0 < model.features_of(unlike)[-1] < 5.93, "no code with such blocks is known: the mean of all"
