"""What a search found shows itself as text, as JSON and in a notebook."""

from __future__ import annotations

import json
from dataclasses import replace

from polysched.measure.field import Verdict
from polysched.measure.timing.race import Gain
from polysched.pipeline.recipe import Recipe
from polysched.search.chooser import Decision, Rejected, Rejections
from polysched.search.identity import Place, canonical_scop, key_of
from polysched.search.several import model_seconds
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from tests.search.programs import product


def found() -> Tuned:
    first = Trial(recipe=Recipe(), pairs=((2.0, 1.0),))
    best = Trial(recipe=Recipe(fusion="max"), trace=(Decision("fusion", "max"),), pairs=((1.0, 0.5),) * 3)
    wrong = Trial(recipe=Recipe(fusion="none"), verdict=Verdict.WRONG, reason="C[0] is 1")
    rejections = Rejections()
    rejections.add(Rejected("it breaks a dependence", "S0[0] before S0[1]", ()))
    scop = product()
    place = Place(machine="m", threads=2, compiler="gcc", numerics="{}")
    return Tuned(name="product", scop=scop, key=key_of(canonical_scop(scop), {"n": 64}, place), sizes={"n": 64},
                 threads=2, recipe=best.recipe, ties=(), first=first, best=best,
                 gain=Gain(median=2.0, low=1.9, high=2.1, pairs=25), trials=(wrong, best), confirmed=(),
                 rejections=rejections, bound_seconds=0.25, stopped="after 2 trials", search_seconds=3.0)


def test_the_json_has_what_scripts_need():
    value = json.loads(json.dumps(found().to_json()))
    assert {"trials", "rejected", "seconds", "gain", "recipe", "bound"} <= set(value)
    assert value["gain"] == {"median": 2.0, "interval": [1.9, 2.1], "pairs": 25}
    assert value["curve"] == [1.0, 2.0]
    assert (value["trials"], value["rejected"], value["bound"]["seconds"]) == (2, 1, 0.25)
    assert Recipe.from_json(value["recipe"]) == Recipe(fusion="max")


def test_times_are_those_of_samples_that_nothing_disturbed():
    busy = replace(found(), recipe=Recipe(), gain=Gain(), best=found().first,
                   first=Trial(recipe=Recipe(), pairs=((0.2, 0.023),) * 5, disturbed=tuple(range(5))), trials=(
                       Trial(recipe=Recipe(fusion="max"), pairs=((0.022, 0.05), (0.002, 0.004)), disturbed=(0,)),))
    assert busy.seconds == busy.first_seconds == 0.002
    assert busy.to_json()["best_seconds"] == 0.002
    never = replace(busy, trials=(Trial(recipe=Recipe(fusion="max"), pairs=((0.022, 0.05),), disturbed=(0,)),))
    assert never.seconds is None
    assert never.least_seconds == 0.022
    assert "time of a call: not known, other programs disturbed every sample" in str(never)
    assert never.to_json()["best_seconds"] is None
    assert model_seconds(never) == 0.022


def test_the_curve_believes_fresh_samples():
    lucky, good = Recipe(fusion="max"), Recipe(fusion="none")
    trials = tuple(Trial(recipe=recipe, pairs=((ratio, 1.0),) * 5) for recipe, ratio in (
        (lucky, 3.7), (Recipe(flags=("-O2",)), 2.0), (good, 1.2)))
    again = (replace(trials[0], pairs=((1.05, 1.0),) * 9, phase="again"),
             replace(trials[2], pairs=((1.25, 1.0),) * 9, phase="again"))
    assert replace(found(), trials=trials).curve == (3.7, 3.7, 3.7)
    assert replace(found(), trials=trials, again=again).curve == (1.05, 1.25, 1.25)


def test_the_text_tells_gain_rejections_and_the_bound():
    text = str(found())
    assert "gain: 2.000 [1.900, 2.100] in 25 pairs" in text
    assert "rejected 1: it breaks a dependence (S0[0] before S0[1])" in text
    assert "time of a call: 500 ms, 2.00 times the bound" in text
    assert repr(found()) == "<Tuned of product: gain 2.000 [1.900, 2.100] in 25 pairs after 2 trials>"
    assert "fusion max" in found()._repr_html_()
