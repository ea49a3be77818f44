"""The rule for reductions: offered where numerics allow it, legal where chosen, and never for products of matrices."""

from __future__ import annotations

import random

import numpy as np
import pytest

from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.pipeline.stages import scheduled
from polysched.scheduling.primitives import SplitReduction
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.search.rewriting.partial_sums import split_reduction, sums
from polysched.search.space import Explorer
from tests.search.programs import OPTIONS, product

ROWS = """\
void rows(int n, int m, {t} y[n], {t} A[n][m], {t} x[m])
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      y[i] += A[i][k] * x[k];
#pragma endscop
}}
"""


def explorer(kind: str, *, reassociate: bool) -> Explorer:
    return Explorer(lambda choose, dependences: split_reduction(choose, dependences, Recipe()),
                    from_c_text(ROWS.format(t=kind)), OPTIONS.but(reassociate=reassociate), {"n": 64, "m": 64})


def recipes(found: Explorer) -> list[Recipe]:
    return [proposal.recipe for proposal in found.enumerate()]


@pytest.mark.parametrize(("kind", "reassociate", "offered"), [
    ("int", False, True), ("int", True, True), ("double", False, False), ("double", True, True)])
def test_what_rounds_differently_is_offered_where_it_is_allowed(kind: str, reassociate: bool, offered: bool) -> None:
    found = recipes(explorer(kind, reassociate=reassociate))
    assert found[0] == Recipe()
    assert any(recipe.steps for recipe in found) == offered


def test_every_recipe_gives_the_sum_at_random_sizes() -> None:
    found, draw, source = explorer("int", reassociate=False), np.random.default_rng(3), random.Random(3)
    rows = recipes(found)
    steps = {step for recipe in rows for step in recipe.steps}
    assert {step.run == 1 for step in steps if isinstance(step, SplitReduction)} == {True, False}
    for recipe in rows:
        n, m = source.randrange(1, 5), source.randrange(1, 40)
        arrays = {"y": draw.integers(-9, 9, n, dtype=np.int32), "A": draw.integers(-9, 9, (n, m), dtype=np.int32),
                  "x": draw.integers(-9, 9, m, dtype=np.int32)}
        expected = arrays["y"] + arrays["A"] @ arrays["x"]
        schedule = scheduled(found.dependences(recipe), apply_recipe(found.options, recipe))
        execute(schedule.scop, {"n": n, "m": m}, arrays, tree=schedule.tree)
        np.testing.assert_array_equal(arrays["y"], expected)


def test_a_product_of_matrices_has_loops_enough() -> None:
    assert list(sums(product())) == []


def test_a_recipe_with_parts_fits_the_program_under_other_names() -> None:
    recipe = Recipe(steps=(SplitReduction(loop="S0.k", parts=8),))
    (step,) = recipe.renamed({"S0": "s0", "k": "inner"}).steps
    assert step == SplitReduction(loop="s0.inner", parts=8)
