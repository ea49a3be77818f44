"""Several programs under one budget, over recorded times."""

from __future__ import annotations

import pytest

from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_text
from polysched.search.limits import LIMITS
from polysched.search.several import Weighted, tune_all
from polysched.search.tuning import Budget
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, PRODUCT, Recorded, Unbuilt

EDGES = tuple(4 * k for k in range(1, 25))


def template(choose, dependences):
    return Recipe(bands={0: BandOptions(sizes=choose.one_of("edge", EDGES), register=False)})


def run(tmp_path, weights: tuple[float, ...], trials: int):
    programs = [Weighted(program=from_c_text(PRODUCT.replace("+=", op)), sizes={"n": 64}, weight=weight)
                for op, weight in zip(("+=", "-="), weights, strict=True)]
    return tune_all(programs, database=tmp_path / "t.db", budget=Budget(trials=trials), space=template, options=OPTIONS,
                    strategy="grid", model="projected", builder=Unbuilt(), clock=lambda: 0.0,
                    runner=Recorded(lambda recipe: 1.0 if not recipe.bands else 4.0 / recipe.bands[0].sizes))


def test_the_heavier_program_gets_more_turns_until_it_is_exhausted(tmp_path):
    found = run(tmp_path, (1.0, 10.0), 3 * LIMITS.batch)
    assert found.turns == (1, 2)
    assert all(t is not None for t in found.found)
    assert found.after < found.before == pytest.approx(11.0)
    assert "the whole: " in str(found)


def test_all_ends_where_both_are_exhausted(tmp_path):
    found = run(tmp_path, (1.0, 1.0), 100 * LIMITS.batch)
    assert found.turns == (3, 3)
    assert [len(t.trials) for t in found.found] == [len(EDGES)] * 2
    assert found.after == pytest.approx(2 * 4.0 / EDGES[-1])
