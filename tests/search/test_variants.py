"""At most k recipes of least regret, against trying all subsets."""

from __future__ import annotations

import random
from itertools import combinations
from math import log2

import pytest

from polysched.errors import UsageError
from polysched.pipeline.recipe import Recipe
from polysched.search.variants import choose_variants

RECIPES = tuple(Recipe(tile=edge) for edge in (4, 8, 16, 32, 64))
SIZES = (64, 128, 256, 512)


def regret(times, kept) -> float:
    return sum(log2(min(times[r][s] for r in kept) / min(t[s] for t in times.values())) for s in SIZES) / len(SIZES)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_other_subset_has_less_regret(seed, most):
    draw = random.Random(seed)
    times = {r: {s: s * draw.uniform(1, 4) for s in SIZES} for r in RECIPES}
    found = choose_variants(times, most)
    assert len(found.recipes) <= most
    best = min(regret(times, kept) for kept in combinations(RECIPES, most))
    assert log2(found.regret) == pytest.approx(best, abs=2e-3)
    assert regret(times, found.recipes) == pytest.approx(best, abs=2e-3)


def test_borders_are_between_the_sampled_sizes():
    small, large = RECIPES[:2]
    found = choose_variants({small: {64: 1.0, 256: 1.0, 1024: 9.0}, large: {64: 2.0, 256: 3.0, 1024: 1.0}}, 2)
    assert found.regret == 1.0
    assert found.thresholds() == ((0, 0), (512, 1))
    assert [found.recipe_for(n) for n in (1, 511, 512, 4000)] == [small, small, large, large]


def test_one_recipe_that_is_best_everywhere_is_enough():
    times = {r: {s: float(k + 1) for s in SIZES} for k, r in enumerate(RECIPES)}
    found = choose_variants(times, 4)
    assert found.recipes == RECIPES[:1]
    assert found.thresholds() == ((0, 0),)


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(UsageError, match="no times"):
        choose_variants({}, 2)
    with pytest.raises(UsageError, match="at least one"):
        choose_variants({RECIPES[0]: {64: 1.0}}, 0)
    with pytest.raises(UsageError, match="no so few"):
        choose_variants({RECIPES[0]: {64: 1.0}, RECIPES[1]: {128: 1.0}}, 1)


def test_variants_have_the_same_flags():
    seconds = {Recipe(): {1: 1.0, 2: 1.0}, Recipe(flags=("-O2",)): {1: 0.5, 2: 0.9}, Recipe(tile=8): {1: 0.7, 2: 0.4}}
    chosen = choose_variants(seconds, 2)
    assert chosen.recipes == (Recipe(tile=8),)
    assert chosen.regret == pytest.approx((0.7 / 0.5) ** 0.5, rel=1e-3)


def test_flags_that_are_fast_somewhere_and_do_not_run_elsewhere_are_left_out():
    first, second = Recipe(flags=("-O2",)), Recipe(flags=("-O2",), tile=8)
    chosen = choose_variants({Recipe(): {1: 1.0, 2: 1.0}, first: {1: 0.5}, second: {2: 0.5}}, 1)
    assert chosen.recipes == (Recipe(),)
    assert chosen.regret == pytest.approx(2.0)
