"""What is offered for a band fits the caches, is legal, and has a prediction."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search.automatic import automatic
from polysched.search.bands import BandFacts, recipe_seconds
from polysched.search.chooser import Chooser, Sampling
from polysched.search.space import Explorer
from polysched.tiling import BandOptions
from polysched.tiling.planning.tile_search import exceeded
from tests.search.programs import MACHINE, OPTIONS, product


@pytest.fixture(scope="module")
def band() -> BandFacts:
    return Explorer(automatic, product(), OPTIONS, {"n": 512}).bands(Recipe())[0]


def test_the_facts_of_a_product(band):
    assert (band.number, band.depth, band.can_be_tiled) == (0, 3, True)
    assert [loop.extent for loop in band.loops] == [512] * 3
    assert all(rows * columns // 4 <= 15 for rows, columns in band.blocks)
    assert set(band.packable) == {"A", "B"}
    assert band.shape_of(False) is None
    assert band.shape_of(True) is band.choices.shape
    assert band.shape_of((1, 999)) is None


def test_drawn_tiles_exceed_no_limit_and_hold_whole_blocks(band):
    for seed in range(40):
        choose = Chooser(Sampling(random.Random(seed)))
        tiles = choose.tiled(band)
        made = {d.name: d.value for d in choose.trace}
        order = made["band 0, order of tiles"]
        shape = band.shape_of(tiles.register)
        problem = band.problem(made["band 0, tiles fit L"], shape)
        assert not exceeded(problem, order, tiles.sizes)
        if shape is not None:
            assert tiles.sizes[shape.rows] % shape.row_count == 0
            assert tiles.sizes[shape.columns] % shape.column_count == 0


def test_growing_an_edge_exceeds_no_fewer_limits(band):
    problem = band.problem(1, None)
    small = exceeded(problem, (0, 1, 2), (8, 8, 8))
    large = exceeded(problem, (0, 1, 2), (512, 512, 512))
    assert not small
    assert "capacity of the tile's cache" in large


def test_tiles_are_predicted_and_rank_above_none(band):
    tiled = band.seconds_of(BandOptions(sizes=(64, 64, 256), register=band.blocks[0]))
    plain = band.seconds_of(BandOptions(sizes="off", register=False))
    assert band.usual_seconds == band.seconds_of(None)
    assert tiled < plain
    assert band.seconds_of(BandOptions(sizes=64, register=False)) > 0


def test_a_prediction_of_the_whole_is_scaled_by_the_bands(band):
    recipe = Recipe(bands={0: BandOptions(sizes="off", register=False)})
    slower = band.seconds_of(recipe.bands[0]) / band.usual_seconds
    assert recipe_seconds((band,), recipe, whole=2.0) == pytest.approx(2.0 * slower)
    assert recipe_seconds((band,), Recipe(), whole=2.0) == pytest.approx(2.0)
    assert recipe_seconds((), Recipe(), whole=None) is None


def test_one_thread_alone_may_fill_the_cache_that_cores_share():
    scop = from_c_file(str(Path(__file__).parents[1] / "kernels" / "heat_3d.c"))
    offered = {}
    for cores in (1, 2):
        options = replace(OPTIONS, tiling=replace(OPTIONS.tiling, target=replace(MACHINE, cores=cores)))
        (found,) = Explorer(automatic, scop, options, {"n": 200, "steps": 20}).bands(Recipe())
        offered[cores] = found
    assert [band.choices.levels for band in offered.values()] == [(2, 1, 3), (2, 1)]
    rows = (8, 16, 16, 256)
    assert not exceeded(offered[1].problem(3, None), (0, 1, 2, 3), rows)
    assert exceeded(offered[2].problem(2, None), (0, 1, 2, 3), rows)
