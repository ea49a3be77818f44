"""Searches over recorded times: nothing is run, and every decision follows from the records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.errors import RunFailedError, UsageError
from polysched.measure.field import Ran, Verdict
from polysched.pipeline.recipe import Recipe
from polysched.search import tuning
from polysched.search.building import Candidate
from polysched.search.database import Database
from polysched.search.limits import LIMITS
from polysched.search.strategies import STRATEGIES, Grid
from polysched.search.trial import Trial
from polysched.search.tuned import Tuned
from polysched.search.tuning import Budget, Search, tune
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product

EDGES = (4, 8, 16, 32)


def template(choose, dependences):
    return Recipe(bands={0: BandOptions(sizes=tuple(choose.one_of(f"edge {k}", EDGES) for k in range(2)),
                                        register=False)})


def seconds_of(recipe: Recipe) -> float:
    """The model's pick takes 1; 32 x 4 is the fastest with 0.5."""
    if not recipe.bands:
        return 1.0
    first, second = recipe.bands[0].sizes
    return 0.5 + 0.1 * abs(EDGES.index(first) - 3) + 0.2 * EDGES.index(second)


FASTER = 8
"""Of the template, those that are faster than the model's pick, and so get a second race."""
BEST = Recipe(bands={0: BandOptions(sizes=(32, 4), register=False)})


def search(runner: Recorded, *, trials: int = 16, **arguments: object) -> Tuned:
    return tune(product(), **{"space": template, "sizes": {"n": 64}, "budget": Budget(trials=trials),
                              "runner": runner, "builder": Unbuilt(), "options": OPTIONS,
                              "clock": lambda: 0.0, "strategy": "grid", **arguments})


def test_a_grid_finds_the_best_of_a_template():
    found = search(Recorded(seconds_of))
    assert found.recipe == BEST
    assert found.gain.median == pytest.approx(2.0)
    assert found.gain.pairs == LIMITS.confirm_pairs
    assert len(found.trials) == 16
    assert found.curve[-1] == pytest.approx(2.0)
    assert list(found.curve) == sorted(found.curve)
    assert found.stopped == "after 16 trials"
    assert found.seconds == pytest.approx(0.5)


def test_thousands_of_plans_are_ranked_and_told():
    def wide(choose, dependences):
        return Recipe(bands={0: BandOptions(sizes=(choose.one_of("first", range(2, 102)), choose.one_of(
            "second", range(2, 102))), register=False)})

    found = search(Recorded(), space=wide, trials=2 * LIMITS.batch, strategy="random", model="projected")
    assert found.ranked == LIMITS.first_generation + LIMITS.generation > 2000
    assert found.to_json()["ranked"] == found.ranked
    assert f"plans: {found.ranked} ranked by the model, " in str(found)


def test_a_larger_budget_goes_on_with_the_same_sequence(tmp_path: Path):
    few, many = Recorded(seconds_of), Recorded(seconds_of)
    search(few, trials=LIMITS.batch, strategy="random", database=tmp_path / "t.db")
    more = search(many, trials=2 * LIMITS.batch, strategy="random", database=tmp_path / "t.db", resume=True)
    assert more.repeated >= 1 + LIMITS.batch
    assert not set(few.raced[:1 + LIMITS.batch]) & set(many.raced[:LIMITS.batch])


def test_where_nothing_is_faster_the_models_pick_is_kept():
    found = search(Recorded(lambda recipe: 1.0 if not recipe.bands else 1.1))
    assert found.recipe == Recipe()
    assert found.gain.pairs == 0
    assert not found.confirmed


def test_a_recipe_by_hand_and_the_automatic_space_go_through_the_same_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tuning, "LIMITS", replace(LIMITS, first_generation=64, generation=16))
    by_hand = search(Recorded(seconds_of), space=BEST)
    assert by_hand.recipe == BEST
    assert by_hand.stopped == "the space is exhausted"
    automatic = search(Recorded(lambda recipe: 0.8 if recipe != Recipe() else 1.0), space="automatic", trials=3,
                       strategy="random")
    assert automatic.gain.median == pytest.approx(1.25)
    assert len(automatic.ties) == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_and_times_propose_the_same_sequence(strategy):
    runs = [Recorded(seconds_of), Recorded(seconds_of)]
    found = [search(runner, strategy=strategy, seed=3, trials=10) for runner in runs]
    assert runs[0].raced == runs[1].raced
    assert found[0].recipe == found[1].recipe


def test_planted_candidates_become_records_and_are_never_chosen(tmp_path: Path):
    texts = {edges: Recipe(bands={0: BandOptions(sizes=edges, register=False)}).text
             for edges in ((32, 4), (16, 4), (8, 4), (4, 4))}
    planted = dict(zip(texts.values(), ((Verdict.WRONG, "C[0][0] is 1"), (Verdict.CRASHED, "SIGSEGV"),
                                        (Verdict.HUNG, "5 s"), (Verdict.MEMORY, "8 GiB")), strict=True))
    found = search(Recorded(seconds_of, planted), database=tmp_path / "tuned.db")
    assert found.verdicts() == {"timed": 12, "wrong": 1, "crashed": 1, "hung": 1, "memory": 1}
    assert found.recipe == Recipe(bands={0: BandOptions(sizes=(32, 8), register=False)})
    with Database(tmp_path / "tuned.db") as database:
        ((key, _),) = database.tasks()
        assert {t.verdict for t in database.trials(key)} == {
            Verdict.TIMED, Verdict.WRONG, Verdict.CRASHED, Verdict.HUNG, Verdict.MEMORY}
        assert database.winners()[0].recipe == found.recipe


def test_a_resumed_search_measures_nothing_again(tmp_path: Path):
    whole = Recorded(seconds_of)
    expected = search(whole)
    cut = Recorded(seconds_of, most=7)
    with pytest.raises(KeyboardInterrupt):
        search(cut, database=tmp_path / "tuned.db")
    rest = Recorded(seconds_of)
    found = search(rest, database=tmp_path / "tuned.db", resume=True)
    assert [*cut.raced, *rest.raced] == whole.raced
    assert (found.recipe, found.gain, found.repeated) == (expected.recipe, expected.gain, 7)
    again = Recorded(seconds_of)
    assert search(again, database=tmp_path / "tuned.db", resume=True).recipe == expected.recipe
    assert again.raced == []


def test_what_was_recorded_on_a_busy_machine_is_measured_again(tmp_path: Path):
    busy = {Recipe().text, BEST.text}
    disturbed = Recorded(lambda recipe: 3.0 if recipe == BEST else seconds_of(recipe), disturbed=busy)
    assert search(disturbed, database=tmp_path / "tuned.db").recipe != BEST
    idle = Recorded(seconds_of)
    found = search(idle, database=tmp_path / "tuned.db", resume=True)
    assert idle.raced[:2] == [Recipe().text, BEST.text]
    assert found.repeated >= 15, "the others keep their records"
    assert (found.recipe, found.gain.median) == (BEST, pytest.approx(2.0))


def test_a_search_that_goes_on_confirms_nothing_twice():
    runner = Recorded(seconds_of)
    made = Search.of(product(), space=template, sizes={"n": 64}, options=OPTIONS, strategy="grid", builder=Unbuilt(),
                     runner=runner, clock=lambda: 0.0)
    once = made.until(Budget(trials=16), bounded=False)
    measured = list(runner.raced)
    again = made.until(Budget(trials=16), bounded=False)
    assert (again.recipe, again.gain) == (once.recipe, once.gain)
    assert runner.raced == measured


def test_a_search_anew_forgets(tmp_path: Path):
    search(Recorded(seconds_of), database=tmp_path / "tuned.db")
    fresh = Recorded(seconds_of)
    search(fresh, database=tmp_path / "tuned.db")
    assert len(fresh.raced) == 1 + 16 + FASTER + LIMITS.finalists


def test_recipes_with_equal_code_are_judged_once():
    class Equal(Unbuilt):
        def code(self, recipe: Recipe) -> str:
            return str(recipe.bands and max(recipe.bands[0].sizes))
    found = search(Recorded(lambda recipe: 1.0), builder=Equal(), space=lambda choose, dependences: Recipe(bands={
        0: BandOptions(sizes=(choose.one_of("a", (8, 16)), choose.one_of("b", (8, 16))))}))
    assert (len(found.trials), found.duplicates) == (2, 2)


def test_a_search_whose_recipes_give_no_new_code_ends():
    class Few(Unbuilt):
        def code(self, recipe: Recipe) -> str:
            return str(bool(recipe.bands) and recipe.bands[0].sizes > 40)

    def space(choose, dependences):
        return Recipe(bands={0: BandOptions(sizes=choose.one_of("edge", tuple(range(1, 1000))))})
    found = search(Recorded(lambda recipe: 1.0), builder=Few(), budget=Budget(trials=8), space=space)
    vain = int(found.stopped.removeprefix("after ").removesuffix(" recipes without new code"))
    assert LIMITS.most_vain <= vain < LIMITS.most_vain + LIMITS.batch
    assert len(found.trials) == 1
    assert found.duplicates <= 2 * vain


def test_the_code_of_the_models_pick_is_told_to_be_as_fast_as_it():
    class Same(Unbuilt):
        def code(self, recipe: Recipe) -> str:
            return "the same"

    class Strategy(Grid):
        def tell(self, trials: Sequence[Trial]) -> None:
            told.extend(trials)

    class Written(Recorded):
        """The code as written takes 9."""

        def race(self, candidates: Sequence[Candidate], *, against: Candidate | None,
                 told: Callable[[Candidate, Ran], None], **how: Any) -> None:
            super().race(candidates, against=against, **how, told=lambda candidate, ran: told(candidate, replace(
                ran, pairs=ran.pairs if against is not None else tuple((9.0, own) for _, own in ran.pairs))))

    told: list[Trial] = []
    found = search(Written(seconds_of), builder=Same(), strategy=Strategy)
    assert found.duplicates == len(told) == 16
    assert {trial.ratio for trial in told} == {1.0}
    assert str(found.first) == "9.000 times as fast as the code as written: what the models choose"


class Newer(Unbuilt):
    """Makes other C of some recipes than before."""

    def __init__(self, changed: Callable[[Recipe], bool]) -> None:
        self.changed = changed

    def code(self, recipe: Recipe) -> str:
        return f"{recipe.text}{' newer' * self.changed(recipe)}"


def test_times_beside_other_code_of_the_models_pick_are_not_used_again(tmp_path: Path):
    search(Recorded(seconds_of), database=tmp_path / "tuned.db")
    newer = Recorded(lambda recipe: 1.0 if not recipe.bands else 2 * seconds_of(recipe))
    found = search(newer, database=tmp_path / "tuned.db", resume=True, builder=Newer(lambda recipe: not recipe.bands))
    assert found.recipe == Recipe()
    assert (found.repeated, len(newer.raced)) == (0, 17)
    with Database(tmp_path / "tuned.db") as database:
        ((key, _),) = database.tasks()
        assert {t.phase for t in database.trials(key)} == {"search"}


def test_what_is_chosen_again_has_the_code_that_is_made_now(tmp_path: Path):
    search(Recorded(seconds_of), database=tmp_path / "tuned.db")
    newer = Recorded(lambda recipe: 0.9 if recipe == BEST else seconds_of(recipe))
    found = search(newer, database=tmp_path / "tuned.db", resume=True, builder=Newer(lambda recipe: recipe == BEST))
    assert newer.raced == [BEST.text, Recipe(bands={0: BandOptions(sizes=(8, 4), register=False)}).text]
    assert found.recipe == Recipe(bands={0: BandOptions(sizes=(16, 4), register=False)})
    assert {t.recipe: t.code for t in found.again}[BEST] == f"{BEST.text} newer"


def test_time_ends_a_search_by_the_clock_that_it_was_given():
    ticks = iter(range(0, 100000, 30))
    found = search(Recorded(seconds_of), budget=Budget(minutes=1), clock=lambda: float(next(ticks)))
    assert found.stopped == "after 1 minutes"
    assert len(found.trials) == 1, "of a batch, what fits into the rest of the time by what the model's pick took"
    ticks = iter(range(0, 100000, 3))
    assert len(search(Recorded(seconds_of), budget=Budget(minutes=1), clock=lambda: float(next(ticks))).trials) > 1
    ticks = iter(range(0, 100000, 61))
    slow = search(Recorded(seconds_of), budget=Budget(minutes=1), clock=lambda: float(next(ticks)))
    assert "stopped: after 1 minutes, which the model's pick alone took: give more, or smaller sizes" in str(slow)


def test_a_model_pick_that_is_wrong_is_told():
    with pytest.raises(RunFailedError, match="the model's pick has no times: wrong"):
        search(Recorded(seconds_of, {Recipe().text: (Verdict.WRONG, "C[0][0] is 1")}))


def test_refused_recipes_are_counted_with_their_reason():
    found = search(Recorded(seconds_of), space=Recipe(bands={7: BandOptions(sizes=8)}))
    assert found.rejections.counts == {"there is no band 7": 1}
    assert found.stopped == "the space is exhausted"


@pytest.mark.parametrize("arguments", [{"space": "luck"}, {"strategy": "luck"}])
def test_unknown_names_are_refused(arguments):
    with pytest.raises(UsageError):
        search(Recorded(seconds_of), **arguments)


@pytest.mark.parametrize("arguments", [{}, {"trials": 0}, {"minutes": 0.0}, {"minutes": float("nan")}])
def test_a_budget_is_positive(arguments):
    with pytest.raises(UsageError):
        Budget(**arguments)


PROPOSED = """\
import json, sys
from dataclasses import replace
from polysched.search import tuning
from polysched.search.tuning import Budget, Search, tune
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product
tuning.LIMITS = replace(tuning.LIMITS, first_generation=256, generation=64)   # ranked in a second
raced = {}
for strategy in ("evolution",):
    runner = Recorded(lambda recipe: 1.0 if not recipe.bands else 0.5 + len(recipe.text) % 17 / 16)
    tune(product(), sizes={"n": 64}, budget=Budget(trials=6), runner=runner, builder=Unbuilt(), options=OPTIONS,
         clock=lambda: 0.0, strategy=strategy, seed=11)
    raced[strategy] = runner.raced
print(json.dumps(raced))
"""


def test_other_processes_propose_the_same_recipes_of_the_automatic_space():
    both = [subprocess.Popen([sys.executable, "-c", PROPOSED], stdout=subprocess.PIPE, text=True, env={
        **os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": seed}) for seed in ("1", "77")]
    told = [process.communicate()[0] for process in both]
    assert told[0] == told[1]
    assert all(len(raced) >= 7 for raced in json.loads(told[0]).values())
