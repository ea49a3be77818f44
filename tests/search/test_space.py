"""An explorer makes proposals of a space, counts what is rejected, and asks the model."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from polysched.errors import UsageError
from polysched.pipeline.recipe import Recipe
from polysched.scheduling.primitives import Reverse
from polysched.search.chooser import Decision
from polysched.search.space import Explorer, Proposal, Space, TemplateError, distinct
from polysched.search.tuning import Search
from polysched.tiling import BandOptions
from tests.search.programs import ALIKE, OPTIONS, product


def template(choose, dependences):
    edge = choose.one_of("edge", (8, 16, 32))
    return Recipe(bands={0: BandOptions(sizes=edge, register=choose.one_of("block", (True, False)))})


def with_illegal_steps(choose, dependences):
    loop = choose.one_of("reversed", ("k", "i"))
    recipe = Recipe(steps=(Reverse(loop=loop),))
    choose.bands(recipe)
    return replace(recipe, tile=choose.one_of("tile", (8, 16)))


def explorer(space) -> Explorer:
    return Explorer(space, product(), OPTIONS, {"n": 64})


def test_a_template_is_enumerated():
    found = list(explorer(template).enumerate())
    assert len(distinct(found)) == len(found) == 6
    assert found[0].trace == (Decision("edge", 8), Decision("block", True))


def test_a_recipe_by_hand_is_a_space_that_asks_nothing():
    recipe = Recipe(fusion="max")
    assert list(explorer(lambda choose, dependences: recipe).enumerate()) == [Proposal(recipe=recipe, trace=())]


def test_an_illegal_choice_is_counted_with_its_witness_and_prunes():
    found = explorer(with_illegal_steps)
    assert {p.trace[0].value for p in found.enumerate()} == {"i"}
    assert found.rejections.total == 1
    (rejected,) = found.rejections.first.values()
    assert rejected.trace == (Decision("reversed", "k"),)
    assert "S0" in rejected.witness


def test_samples_avoid_what_was_rejected():
    found = explorer(with_illegal_steps)
    draw = random.Random(0)
    assert {found.sample(draw).recipe.steps[0].loop for _ in range(12)} == {"i"}
    assert found.rejections.total == 1


def test_a_trace_replays_and_mutates():
    found = explorer(template)
    first = found.sample(random.Random(2))
    assert found.replay(first.trace) == first.recipe
    assert found.mutate(first.trace, random.Random(2)).recipe != first.recipe
    with pytest.raises(UsageError):
        found.replay(())


def test_a_space_without_a_legal_recipe_is_exhausted():
    def none(choose, dependences):
        choose.reject("never")
    found = explorer(none)
    assert found.sample(random.Random(0)) is None
    assert list(found.enumerate()) == []


def test_schedules_that_are_equal_are_offered_once():
    def rows(choose, dependences):
        return choose.scheduled("fusion", {name: Recipe(fusion=name) for name in ("smart", "max", "none")})
    assert [p.recipe.fusion for p in explorer(rows).enumerate()] == ["smart"]


def test_strategies_that_their_lines_do_not_tell_apart_have_a_row_each():
    found = explorer(template)
    first, second = (str(found.row(Recipe(strategy=strategy)).schedule.tree) for strategy in ALIKE)
    assert first != second


def test_the_model_says_something_of_every_recipe_with_tiles():
    found = explorer(template)
    seconds = {found.seconds(p.recipe) for p in found.enumerate()}
    assert len(seconds) > 3
    assert found.seconds(Recipe()) > 0


@pytest.mark.parametrize("made", [None, 3, BandOptions(sizes=8)])
def test_a_template_that_makes_something_else_is_refused(made: object) -> None:
    explorer = Explorer(lambda choose, dependences: made, product(), OPTIONS)  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match="the template makes no recipe") as refused:
        next(explorer.enumerate())
    assert refused.value.witness == repr(made)[:60]
    with pytest.raises(UsageError, match="the template makes no recipe"):
        explorer.replay(())


def test_an_error_in_a_template_is_told_with_its_line():
    def halved(choose, dependences):
        return Recipe(tile=choose.one_of("edge", (32, 64)) // 0)
    explorer = Explorer(halved, product(), OPTIONS)
    for ask in (lambda: next(explorer.enumerate()), lambda: explorer.replay((Decision("edge", 32),)),
                lambda: explorer.sample(random.Random(1))):
        with pytest.raises(TemplateError, match="the template ends in an error") as refused:
            ask()
        assert str(refused.value.witness).startswith("ZeroDivisionError: ")
        assert f"{__file__}, line {halved.__code__.co_firstlineno + 1})" in str(refused.value.witness)
        assert isinstance(refused.value.__cause__, ZeroDivisionError)
    assert not explorer.rejections.total
    with pytest.raises(ZeroDivisionError):   # a fault of this program is no refusal
        next(Explorer(halved, product(), OPTIONS, is_own=True).enumerate())


@pytest.mark.parametrize(("space", "is_own"), [("automatic", True), (Recipe(), True), (lambda *_: Recipe(), False)])
def test_templates_by_hand_are_told_apart(space: Space | Recipe | str, is_own: bool) -> None:
    made = Search.of(product(), space=space, sizes={"n": 64}, options=OPTIONS, strategy="grid")
    assert made.explorer.is_own is is_own
