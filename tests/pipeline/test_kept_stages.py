"""Analyses and schedules are made once where that was asked for, and by what decides them."""

from dataclasses import replace

from polysched.pipeline import analysed, optimize, scheduled
from polysched.pipeline.kept_stages import KeptStages, keeping, kept
from polysched.pipeline.limits import LIMITS
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.tiling import BandOptions
from tests.search.programs import ALIKE, OPTIONS, product


def test_nothing_is_kept_unasked():
    scop = product()
    assert analysed(scop) is not analysed(scop)


def test_the_same_stage_of_the_same_program_is_made_once():
    scop = product()
    other = replace(scop)   # equal, and another object
    with keeping(KeptStages()):
        first = analysed(scop)
        assert analysed(scop) is first
        assert analysed(other) is not first
        assert analysed(scop, expand=False) is not first
        tree = scheduled(first.dependences, OPTIONS)
        assert scheduled(first.dependences, OPTIONS.but(tile=8)) is tree
        assert scheduled(first.dependences, OPTIONS.but(fusion="max")) is not tree
    assert analysed(scop) is not first


def test_strategies_that_their_lines_do_not_tell_apart_give_two_schedules():
    assert repr(ALIKE[0]) == repr(ALIKE[1])
    dependences = analysed(product()).dependences
    with keeping(KeptStages()):
        trees = [str(scheduled(dependences, OPTIONS.but(strategy=strategy)).tree) for strategy in ALIKE]
    assert trees == [str(scheduled(dependences, OPTIONS.but(strategy=strategy)).tree) for strategy in ALIKE]
    assert trees[0] != trees[1]


def test_the_code_is_the_same_with_kept_stages():
    scop, stages = product(), KeptStages()
    recipes = [Recipe(bands={0: BandOptions(sizes=(8, edge, 16))}) for edge in (8, 24)]
    plain = [optimize(scop, apply_recipe(OPTIONS, recipe)).text for recipe in recipes]
    with keeping(stages):
        assert [optimize(scop, apply_recipe(OPTIONS, recipe)).text for recipe in recipes] == plain
    assert len(stages.values) >= 2


def test_what_is_made_of_an_object_keeps_it_alive():
    stages = KeptStages()
    with keeping(stages):
        assert kept(lambda: 1, object(), "a") == 1
        assert kept(lambda: 2, object(), "a") == 2


def test_what_nobody_asks_for_again_is_dropped():
    stages, program = KeptStages(), object()
    made = []
    with keeping(stages):
        for number in range(3 * LIMITS.kept_values):
            kept(lambda: made.append("often"), program, "often")
            kept(lambda number=number: number, object(), number)
    assert made == ["often"]
    assert len(stages.values) == LIMITS.kept_values
