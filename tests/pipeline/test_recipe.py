"""Recipes: JSON and back, applied by the pipeline, and refused where a value is none of a room's."""

from __future__ import annotations

import json

import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scheduling import Strategy
from polysched.scheduling.primitives import Interchange, Reverse, Tile
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, product

RICH = Recipe(fusion="max", steps=(Interchange(outer="i", inner="j"),), flags=("-funroll-loops",), split_tiles=False,
              bands={1: BandOptions(sizes=(8, 16), register=False), 0: BandOptions(packed=("A",), register=(4, 8))},
              strategy=Strategy.from_json('{"fusion": "none", "vectorize": {"S0": "j"}}'), vector_bits=128)


def test_json_and_back_gives_an_equal_recipe():
    again = Recipe.from_json(json.loads(json.dumps(RICH.to_json())))
    assert again == RICH
    assert hash(again) == hash(RICH)
    assert again.text == RICH.text
    assert list(again.bands) == [0, 1]
    assert again.bands[0] == BandOptions(packed=("A",), register=(4, 8))


def test_what_the_models_choose_is_empty():
    assert Recipe().to_json() == {"format": "polysched recipe 1"}
    assert str(Recipe()) == "what the models choose"
    assert apply_recipe(OPTIONS, Recipe()).differences() == OPTIONS.differences()


def test_every_choice_reaches_the_options():
    options = apply_recipe(OPTIONS, RICH)
    assert (options.fusion, options.steps, options.flags) == ("max", RICH.steps, ("-funroll-loops",))
    assert (options.tiling.bands, options.split_tiles, options.vector_bits) == (RICH.bands, False, 128)
    assert options.tiling.target == OPTIONS.tiling.target
    assert apply_recipe(OPTIONS, Recipe(instruction="none")).tensorize is None
    named = apply_recipe(OPTIONS, Recipe(instruction="x86_vpdpbusd_256"))
    assert named.tensorize.numerics == OPTIONS.tensorize.numerics


def test_the_pipeline_applies_steps_before_it_tiles():
    recipe = Recipe(steps=(Interchange(outer="i", inner="j"),), bands={0: BandOptions(sizes="off", register=False)})
    made = optimize(product(), apply_recipe(OPTIONS, recipe))
    assert made.schedule.steps == recipe.steps
    tiled = Recipe(steps=(Tile(loops=("i", "j"), sizes=(16, 32)),))
    assert "/ 16" in optimize(product(), apply_recipe(OPTIONS, tiled)).text.replace("+= 16", "/ 16")


def test_an_illegal_step_is_refused_with_a_witness():
    with pytest.raises(IllegalScheduleError) as refusal:
        optimize(product(), apply_recipe(OPTIONS, Recipe(steps=(Reverse(loop="k"),))))
    assert "S0" in str(refusal.value.witness)


@pytest.mark.parametrize(("value", "problem"), [
    ({"flags": ["-ffast-math"]}, "the compiler flag '-ffast-math' is not on the list"),
    ({"scheduler": "luck"}, "no scheduler 'luck'"), ({"tricks": 1}, "a recipe has no 'tricks'"),
    ({"bands": {"0": {"sizes": [0]}}}, "a tile size must be at least 1"),
    ({"bands": {"x": {}}}, "the recipe has a value of another type"),
    ({"bands": 7}, "the recipe has a value of another type"),
    ({"steps": [{"step": "rm -rf"}]}, "there is no step 'rm -rf'"),
    ({"tile": 2**40}, "this is too large for a recipe, or no value of one"),
    ({"vector_bits": 7}, "vectors of 7 bits cannot be emitted"),
    ({"steps": [[]] * 5000}, "this is too large for a recipe, or no value of one"),
    ({"scheduler": "best"}, "a recipe names one scheduler")])
def test_what_is_no_recipe_is_refused(value, problem):
    with pytest.raises(UsageError) as refusal:
        Recipe.from_json({"format": "polysched recipe 1", **value})
    assert refusal.value.problem == problem


def test_another_format_is_refused():
    with pytest.raises(UsageError, match="this is no recipe"):
        Recipe.from_json({"format": "polysched recipe 9"})


def test_names_change_and_nothing_else():
    other = RICH.renamed({"A": "Left", "S0": "S4", "i": "row", "j": "column", "max": "min", "step": "x"})
    assert other.bands[0].packed == ("Left",)
    assert other.steps == (Interchange(outer="row", inner="column"),)
    assert other.strategy == Strategy.from_json('{"fusion": "none", "vectorize": {"S4": "column"}}')
    assert other.fusion == "max"


def test_bands_are_added_to():
    recipe = Recipe().with_band(0, BandOptions(sizes=(8, 8))).with_band(0, BandOptions(register=False))
    assert recipe.bands == {0: BandOptions(sizes=(8, 8), register=False)}
    assert repr(recipe) == "Recipe(bands 0: sizes: 8x8, register: False)"


def test_the_pipeline_refuses_a_database_that_it_would_not_read():
    with pytest.raises(UsageError, match="the pipeline looks nothing up"):
        optimize(product(), PipelineOptions(database="tuned.db"))
