"""Samplers of Optuna answer what a space asks."""

from __future__ import annotations

import pytest

from polysched.pipeline.recipe import Recipe
from polysched.search.packages.with_optuna import with_optuna
from polysched.search.trial import Trial
from polysched.search.tuning import Budget, tune
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product

optuna = pytest.importorskip("optuna", reason="polysched[tune] is not installed")
EDGES = tuple(range(4, 132, 4))


def template(choose, dependences) -> Recipe:
    edges = tuple(choose.one_of(f"edge {k}", EDGES) for k in range(2))
    if edges[0] == edges[1]:
        choose.reject("equal edges")
    return Recipe(bands={0: BandOptions(sizes=(*edges, 8), register=False)})


def seconds(recipe: Recipe) -> float:
    return 100.0 if not recipe.bands else 1.0 + sum(abs(e - 64) for e in recipe.bands[0].sizes[:2])


def run(seed: int, strategy=None, trials: int = 48) -> list[Trial]:
    return list(tune(product(), space=template, strategy=strategy or with_optuna(), budget=Budget(trials=trials),
                     options=OPTIONS, seed=seed, model="projected", builder=Unbuilt(), runner=Recorded(seconds),
                     sizes={"n": 256}, clock=lambda: 0.0).trials)


def test_it_comes_near_the_best_and_repeats_for_its_seed():
    first = run(3)
    assert [t.recipe for t in first] == [t.recipe for t in run(3)]
    assert len({t.recipe for t in first}) == 48
    early, late = (sorted(seconds(t.recipe) for t in part)[3] for part in (first[:16], first[-16:]))
    assert late < early


def test_another_sampler_is_taken():
    made = with_optuna(lambda seed: optuna.samplers.RandomSampler(seed=seed))
    assert len(run(0, made, trials=8)) == 8


def test_a_small_space_is_exhausted():
    def small(choose, dependences) -> Recipe:
        return Recipe(tile=choose.one_of("edge", (8, 16)))
    found = tune(product(), space=small, strategy=with_optuna(), budget=Budget(trials=9), options=OPTIONS,
                 model="projected", builder=Unbuilt(), runner=Recorded(), sizes={"n": 64}, clock=lambda: 0.0)
    assert len(found.trials) == 2
    assert found.stopped == "the space is exhausted"


def test_without_the_package_it_is_refused(monkeypatch):
    from polysched.errors import UsageError
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs the package optuna"):
        with_optuna()
