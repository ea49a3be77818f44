"""Several programs under one budget, over recorded times."""

from __future__ import annotations

import pytest

from polysched.errors import PolyschedError, UsageError
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


@pytest.mark.parametrize("trials", [1, LIMITS.batch - 1, LIMITS.batch, LIMITS.batch + 1, 2 * LIMITS.batch + 3])
def test_there_are_as_many_trials_as_the_budget_says(tmp_path, trials):
    found = run(tmp_path, (1.0, 1.0), trials)
    assert sum(len(t.trials) for t in found.found if t is not None) == trials


def test_a_program_that_cannot_be_run_is_told_and_the_others_go_on(tmp_path):
    class Refusing(Unbuilt):
        refusing = True

        def build(self, wanted):
            refused, self.refusing = self.refusing, False
            return [UsageError("no loops") for _ in wanted] if refused else super().build(wanted)

    programs = [Weighted(program=from_c_text(PRODUCT.replace("+=", op)), sizes={"n": 64}, weight=w)
                for op, w in (("-=", 2.0), ("+=", 3.0))]
    found = tune_all(programs, database=tmp_path / "t.db", budget=Budget(trials=LIMITS.batch), space=template,
                     options=OPTIONS, strategy="grid", model="projected", builder=Refusing(), runner=Recorded(),
                     clock=lambda: 0.0)
    assert found.refused == {1: "no loops"}
    assert found.turns == (1, 0)
    assert "product: not tuned: no loops" in str(found)
    value = found.to_json()
    assert [p["refused"] for p in value["programs"]] == [None, "no loops"]
    assert value["trials"] == LIMITS.batch


def test_a_program_that_is_refused_after_a_turn_keeps_what_was_found(tmp_path):
    class Tired(Recorded):
        """Judges one batch."""

        def race(self, candidates, *, against, pairs, slow_ratio, told):
            if slow_ratio < float("inf") and sum("bands" in text for text in self.raced) >= LIMITS.batch:
                raise UsageError("no more")
            super().race(candidates, against=against, pairs=pairs, slow_ratio=slow_ratio, told=told)

    found = tune_all([Weighted(program=from_c_text(PRODUCT), sizes={"n": 64})], database=tmp_path / "t.db",
                     budget=Budget(trials=3 * LIMITS.batch), space=template, options=OPTIONS, strategy="grid",
                     model="projected", builder=Unbuilt(), clock=lambda: 0.0,
                     runner=Tired(lambda recipe: 1.0 if not recipe.bands else 4.0 / recipe.bands[0].sizes))
    assert found.refused == {0: "no more"}
    assert found.turns == (1,)
    assert len(found.found[0].trials) == LIMITS.batch
    assert "product: not tuned further: no more" in str(found)
    assert "no turn" not in str(found)


def test_a_turn_goes_on_where_the_last_one_stopped(tmp_path):
    made: list[str] = []

    class Counting(Unbuilt):
        def made(self, wanted):
            made.append(wanted.proposal.recipe.text)
            return super().made(wanted)

    found = tune_all([Weighted(program=from_c_text(PRODUCT), sizes={"n": 64})], database=tmp_path / "t.db",
                     budget=Budget(trials=3 * LIMITS.batch), space=template, options=OPTIONS, strategy="grid",
                     model="projected", builder=Counting(), clock=lambda: 0.0, runner=Recorded())
    assert found.turns == (3,)
    assert len(made) == len(set(made)) == 1 + len(EDGES), "nothing is made twice"


def test_where_all_are_refused_the_first_refusal_is_raised(tmp_path):
    with pytest.raises(UsageError, match="no programs"):
        tune_all([], database=tmp_path / "t.db", budget=Budget(trials=1))
    with pytest.raises(PolyschedError):
        tune_all([Weighted(program=tmp_path / "missing.c")], database=tmp_path / "t.db", budget=Budget(trials=1))


def test_a_turn_tells_only_its_new_trials(tmp_path):
    told: list[int] = []
    tune_all([Weighted(program=from_c_text(PRODUCT), sizes={"n": 64})], database=tmp_path / "t.db",
             budget=Budget(trials=2 * LIMITS.batch), space=template, options=OPTIONS, strategy="grid",
             model="projected", builder=Unbuilt(), clock=lambda: 0.0, on_trial=lambda trial, count: told.append(count),
             runner=Recorded(lambda recipe: 1.0 if not recipe.bands else 4.0 / recipe.bands[0].sizes))
    assert told == list(range(1, 2 * LIMITS.batch + 1))
