"""A range of sizes is searched at samples, and few recipes are kept for all of it."""

from __future__ import annotations

import inspect

import pytest

import polysched
from polysched.errors import UsageError
from polysched.pipeline.recipe import Recipe
from polysched.search.database import Database
from polysched.search.sizes import samples_of, tune_range
from polysched.search.tuning import Budget
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product

EDGES = (8, 32, 128)


def template(choose, dependences):
    return Recipe(bands={0: BandOptions(sizes=choose.one_of("edge", EDGES), register=False)})


class Sized(Recorded):
    """The best edge grows with the size, which the order of the searches tells."""

    sizes = iter(())

    def race(self, candidates, **others):
        if not candidates[0].proposal.recipe.bands:
            self.size = next(self.sizes)
        super().race(candidates, **others)

    def seconds_of(self, recipe: Recipe) -> float:
        return 10.0 if not recipe.bands else 1.0 + abs(recipe.bands[0].sizes - self.size / 8) / self.size


def run(tmp_path, most: int):
    runner = Sized()
    runner.seconds = runner.seconds_of
    runner.sizes = iter([64, 256, 1024, 64, 256, 1024])
    return tune_range(product(), sizes={"n": "64..1024"}, samples=3, most=most, database=tmp_path / "t.db",
                      budget=Budget(trials=3), space=template, strategy="grid", options=OPTIONS, runner=runner,
                      builder=Unbuilt(), clock=lambda: 0.0)


def test_every_size_has_its_recipe_where_there_is_room(tmp_path):
    found = run(tmp_path, 3)
    assert [found.variants.recipe_for(n).bands[0].sizes for n in (64, 256, 1024)] == list(EDGES)
    assert found.variants.regret == pytest.approx(1.0)
    assert str(found).startswith("from n = 0 on: bands 0: sizes: 8")
    with Database(tmp_path / "t.db") as database:
        assert sorted(dict(w.key.sizes)["p0"] for w in database.winners()) == [64, 256, 1024]


def test_one_recipe_for_all_has_some_regret(tmp_path):
    found = run(tmp_path, 1)
    assert len(found.variants.recipes) == 1
    assert 1.0 < found.variants.regret < 1.2
    assert all(set(times) == {64, 256, 1024} for times in found.seconds.values())


def test_samples_are_at_equal_factors():
    assert samples_of("64..2048", 6) == (64, 128, 256, 512, 1024, 2048)


@pytest.mark.parametrize("text", ["64", "a..b", "9..3", "0..5", "64..", "-1..4"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(UsageError, match="no range"):
        samples_of(text, 3)


def test_exactly_one_size_is_a_range(tmp_path):
    for sizes in ({"n": 64}, {"n": "1..4", "m": "1..4"}):
        with pytest.raises(UsageError, match="exactly one"):
            tune_range(product(), sizes=sizes, database=tmp_path / "t.db", budget=Budget(trials=1))


def test_what_is_kept_is_a_range_of_the_database(tmp_path):
    found = run(tmp_path, 2)
    with Database(tmp_path / "t.db", read_only=True) as database:
        (chosen,) = database.ranges()
        database.verify()
    assert chosen.parameter == "p0"
    assert [case.least for case in chosen.cases] == [least for least, _ in found.variants.thresholds()]
    assert len({case.code for case in chosen.cases}) == 2


def test_tune_takes_a_range_too(tmp_path):
    runner = Sized()
    runner.seconds, runner.sizes = runner.seconds_of, iter([64, 256, 1024] * 2)
    how = {"budget": Budget(trials=3), "space": template, "strategy": "grid", "options": OPTIONS, "runner": runner,
           "builder": Unbuilt(), "clock": lambda: 0.0}
    found = polysched.tune(product(), sizes={"n": "64..1024"}, database=tmp_path / "t.db", samples=3, most=2, **how)
    assert set(found.found) == {64, 256, 1024}
    with pytest.raises(UsageError, match="needs a database"):
        polysched.tune(product(), sizes={"n": "64..1024"})
    assert "strategy" in inspect.signature(polysched.tune).parameters
