"""The rules make legal recipes of programs of several kinds; each is a template of its own."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polysched.pipeline import optimize
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scop import from_c_file, from_c_text
from polysched.search.automatic import RULES, automatic, fusion, tiles
from polysched.search.space import Explorer
from tests.search.programs import COPY, OPTIONS, product

KERNELS = Path(__file__).parents[1] / "kernels"


def test_proposals_of_a_product_are_emitted():
    found = Explorer(automatic, product(), OPTIONS, {"n": 256})
    draw = random.Random(5)
    recipes = [found.sample(draw).recipe for _ in range(3)]
    for recipe in recipes:
        assert "for" in optimize(product(), apply_recipe(OPTIONS, recipe)).text
    assert not found.rejections.total


def test_a_program_with_nothing_to_choose_has_few_recipes():
    found = Explorer(automatic, from_c_text(COPY), OPTIONS, {"n": 1000})
    assert {p.recipe.text for p in found.enumerate()} <= {
        Recipe().text, Recipe(vector_bits=0).text, *(p.recipe.text for p in found.enumerate())}
    assert 1 <= len(list(found.enumerate())) <= 8


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_alone_is_a_template(rule):
    found = Explorer(lambda choose, dependences: rule(choose, dependences, Recipe()), product(), OPTIONS, {"n": 64})
    assert found.sample(random.Random(0)) is not None


def test_fusion_offers_the_schedules_that_differ():
    scop = from_c_file(str(KERNELS / "gemm.c"))
    found = Explorer(lambda choose, dependences: fusion(choose, dependences, Recipe()), scop, OPTIONS)
    made = list(found.enumerate())
    assert [p.trace[0].value for p in made][:2] == ["smart", "max"]
    assert [p.recipe.scheduler for p in made] == ["pluto", "pluto", "feautrier"]


def test_tiles_are_the_models_none_or_chosen():
    found = Explorer(lambda choose, dependences: tiles(choose, dependences, Recipe()), product(), OPTIONS, {"n": 256})
    draw = random.Random(0)
    ways = {found.sample(draw).trace[0].value for _ in range(30)}
    assert ways == {"model", "tiles", "off"}
