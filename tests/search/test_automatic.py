"""The rules make legal recipes of programs of several kinds; each is a template of its own."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.pipeline import optimize
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scop import from_c_file, from_c_text
from polysched.search.automatic import RULES, automatic, concurrent_start, fusion, threads, tiles, time_tiles, vectors
from polysched.search.space import Explorer
from polysched.tiling import BandOptions
from tests.search.programs import COPY, MACHINE, OPTIONS, product

KERNELS = Path(__file__).parents[1] / "kernels"
ALONE = replace(OPTIONS, tiling=replace(OPTIONS.tiling, target=replace(MACHINE, cores=1)))


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
    assert len(list(found.enumerate())) == 3 * 2 * 4, "widths of vectors, a team of threads or none, compiler flags"


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


@pytest.mark.parametrize(("bits", "widths"), [(512, (512, None, 256, 128, 0)), (256, (None, 128, 0)), (128, (None, 0)),
                                              (0, (None, 0))])
def test_vectors_are_as_wide_as_the_machines_or_narrower(bits, widths):
    options = OPTIONS.but(vector_bits=bits)
    found = Explorer(lambda choose, dependences: vectors(choose, dependences, Recipe()), from_c_text(COPY), options,
                     {"n": 64})
    made = [p.recipe.vector_bits for p in found.enumerate()]
    assert made == [w for w in widths if w != bits or w == 0]
    for recipe in (p.recipe for p in found.enumerate()):
        text = optimize(from_c_text(COPY), apply_recipe(options, recipe)).text
        width = bits if recipe.vector_bits is None else recipe.vector_bits
        assert ("vector_size" in text) == bool(width) or "simd" in text


def test_a_band_has_its_loop_for_threads_another_one_or_none():
    found = Explorer(lambda choose, dependences: threads(choose, dependences, Recipe()), product(), OPTIONS, {"n": 64})
    made = [p.recipe.bands for p in found.enumerate()]
    assert [(b[0].parallel, b[0].parallel_loop) if b else None for b in made] == [None, (None, 1), (False, None)]
    texts = {optimize(product(), apply_recipe(OPTIONS, p.recipe)).text for p in found.enumerate()}
    assert len(texts) == 3
    assert len(list(Explorer(lambda choose, dependences: threads(choose, dependences, Recipe()), product(), ALONE,
                             {"n": 64}).enumerate())) == 1


PICK = Recipe()


def over_time(options, rule=time_tiles, recipe=PICK) -> Explorer:
    scop = from_c_file(str(KERNELS / "jacobi_2d.c"))
    return Explorer(lambda choose, dependences: rule(choose, dependences, recipe), scop, options,
                    {"steps": 50, "m": 400, "n": 400})


ZEROS = """\
void zeros(int n, double a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = 0;
#pragma endscop
}
"""


@pytest.mark.parametrize(("sizes", "offered"), [(None, False), ("off", False), ((8, 8), True)])
def test_no_thread_gets_the_innermost_loop_of_a_band_without_tiles(sizes, offered):
    found = Explorer(lambda choose, dependences: threads(
        choose, dependences, Recipe() if sizes is None else Recipe(bands={0: BandOptions(sizes=sizes)})),
        from_c_text(ZEROS), OPTIONS, {"n": 300})
    loops = {p.recipe.bands[0].parallel_loop for p in found.enumerate() if 0 in p.recipe.bands}
    assert (1 in loops) is offered
    for proposal in found.enumerate():
        optimize(from_c_text(ZEROS), apply_recipe(OPTIONS, proposal.recipe))


def test_each_band_over_time_has_a_form_of_its_tiles():
    assert [p.trace for p in over_time(ALONE).enumerate()] == [()], "one thread has nothing to share"
    made = {p.trace[0].value: p.recipe for p in over_time(OPTIONS).enumerate()}
    assert {way: (own.bands[0].split, own.bands[0].diamond) if own.bands else None for way, own in made.items()} == {
        "model": None, "split": (True, None), "wavefronts": (False, None), "diamonds": (False, True)}
    texts = {way: optimize(from_c_file(str(KERNELS / "jacobi_2d.c")), apply_recipe(OPTIONS, recipe)).text
             for way, recipe in made.items() if way != "model"}
    assert len(set(texts.values())) == 3


@pytest.mark.parametrize("own", [BandOptions(sizes="off"), BandOptions(parallel=False), BandOptions(parallel_loop=1)])
def test_without_tiles_or_with_another_loop_on_threads_there_is_no_form_to_choose(own):
    assert [p.trace for p in over_time(OPTIONS, recipe=Recipe(bands={0: own})).enumerate()] == [()]


def test_the_forms_differ_in_what_the_model_says_of_threads():
    (band,) = (b for b in over_time(OPTIONS).bands(Recipe()) if b.depth > 1)
    plan = band.plan_of(BandOptions(sizes=(8, 32, 64)))
    widths = {way: band.width_of(plan, BandOptions(split=way == "split", diamond=way == "diamonds"))
              for way in ("split", "wavefronts", "diamonds")}
    assert widths["split"] == (float(OPTIONS.tiling.target.cores), 2.0 * -(-plan.nest.extents[0] // 8))
    assert widths["diamonds"][0] > widths["wavefronts"][0]
    assert widths["diamonds"][1] < widths["wavefronts"][1]


def test_a_schedule_may_be_one_whose_tiles_start_together():
    made = [p.recipe.concurrent_start for p in over_time(OPTIONS, rule=concurrent_start).enumerate()]
    assert made == [0, 1]
    assert [p.recipe for p in over_time(ALONE, rule=concurrent_start).enumerate()] == [Recipe()]
