"""A manual recipe, a template grid and an automatic search go through the same three lines; rejections prune."""

from __future__ import annotations

import random

import pytest

from polysched.pipeline.recipe import Recipe
from polysched.scheduling.primitives import RegisterBlock, Reverse
from polysched.search import Budget, automatic, tune
from polysched.search.space import Explorer
from polysched.tiling import BandOptions
from polysched.tiling.planning.tile_search import exceeded
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product

MANUAL = Recipe(steps=(RegisterBlock(loops=("i", "j", "k"), rows=4, columns=8),))


def template(choose, dependences) -> Recipe:
    edge = choose.one_of("edge", (8, 16, 32))
    return Recipe(bands={0: BandOptions(sizes=edge, register=choose.one_of("block", (True, False)))})


@pytest.mark.parametrize(("space", "strategy", "trials"), [
    (MANUAL, "evolution", 1), (template, "grid", 6), ("automatic", "evolution", 8)])
def test_the_same_three_lines(space, strategy, trials):
    found = tune(product(), space=space, strategy=strategy, sizes={"n": 256}, budget=Budget(trials=8), options=OPTIONS,
                 builder=Unbuilt(), runner=Recorded(), clock=lambda: 0.0)
    assert len(found.trials) == trials
    assert all(t.recipe != Recipe() for t in found.trials)
    assert found.to_json()["trials"] == trials


def test_an_illegal_choice_is_counted_once_and_prunes_what_begins_with_it():
    def space(choose, dependences) -> Recipe:
        steps = (Reverse(loop="k"),) if choose.one_of("backwards", (True, False)) else ()
        recipe = Recipe(steps=steps)
        choose.bands(recipe)
        return Recipe(steps=steps, tile=choose.one_of("edge", (4, 8, 16)))

    explorer = Explorer(space, product(), OPTIONS, {"n": 64})
    draw = random.Random(0)
    found = [explorer.sample(draw) for _ in range(40)]
    assert all(p is not None and not p.recipe.steps for p in found)
    assert explorer.rejections.total == 1
    (rejected,) = explorer.rejections.first.values()
    assert "S0" in rejected.witness
    assert [d.value for d in rejected.trace] == [True]
    grid = Explorer(space, product(), OPTIONS, {"n": 64})
    assert len(list(grid.enumerate())) == 3
    assert grid.rejections.total == 1


def test_drawn_edges_are_feasible_and_blocks_legal():
    explorer = Explorer(automatic, product(), OPTIONS, {"n": 512})
    draw, drawn = random.Random(1), 0
    for _ in range(60):
        recipe = explorer.sample(draw).recipe
        own = recipe.bands.get(0)
        if recipe.scheduler != "pluto" or own is None or not isinstance(own.sizes, tuple):
            continue
        drawn += 1
        (band,) = explorer.bands(Recipe(vector_bits=recipe.vector_bits))
        assert own.register is False or own.register in band.blocks
        problem = band.problem(band.choices.levels[0], band.shape_of(own.register))
        assert not exceeded(problem, own.order or (0, 1, 2), own.sizes)
    assert drawn > 10
