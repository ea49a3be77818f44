"""Tiles of skewed nests: how many tiles wavefronts have, and what the model prefers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.scheduling.tree.loop_tree import from_isl
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.footprints.nest import nest_of
from polysched.tiling.footprints.traffic import Level, working_set_bytes
from polysched.tiling.planning import skewed_tiles
from polysched.tiling.planning.band_plan import BandPlan
from polysched.tiling.planning.cost_models import Projected
from polysched.tiling.planning.skewed_tiles import (
    NestTimes,
    busiest_share,
    choose_skewed_tile,
    full_tiles_seconds,
    share_saved,
    wavefront_seconds,
    wavefront_widths,
)
from polysched.tiling.tree.position import top
from tests.schedules import pluto_of, pluto_of_file
from tests.tiers import and_campaign

STENCIL = """
void f(double A[{n}][{n}], double B[{n}][{n}]) {{
#pragma scop
  for (int t = 0; t < {steps}; t++) {{
    for (int i = 1; i < {n} - 1; i++)
      for (int j = 1; j < {n} - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
    for (int i = 1; i < {n} - 1; i++)
      for (int j = 1; j < {n} - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
  }}
#pragma endscop
}}
"""
SMALL = Target(vector_bits=256, vector_registers=16, cores=2, caches=(
    CacheLevel(level=1, size_bytes=16 << 10), CacheLevel(level=2, size_bytes=256 << 10)))


def schedule_of(n, steps):
    return pluto_of(STENCIL.format(n=n, steps=steps))


def nest_at(n, steps):
    schedule = schedule_of(n, steps)
    tree = from_isl(schedule.tree)
    return nest_of(schedule.scop, top(schedule.dependences, tree.domain), tree.root.members, {})


def test_instances_are_counted_at_the_sizes_meant():
    """Few time steps beside long rows: at small sizes these loops at an angle leave most of their box empty."""
    text = STENCIL.replace("[{n}][{n}]", "[n][n]").replace("void f(", "void f(int n, int steps, ").replace(
        "{n}", "n").replace("{steps}", "steps").replace("{{", "{").replace("}}", "}")
    schedule = pluto_of(text)
    tree = from_isl(schedule.tree)
    nest = nest_of(schedule.scop, top(schedule.dependences, tree.domain), tree.root.members, {"n": 600, "steps": 40})
    assert nest.density * nest.instances == pytest.approx(2 * 40 * 598 ** 2, rel=0.02)
    assert not nest.is_box, "blocks along an angle are not whole, however much of the box there is"


@pytest.mark.parametrize("edges", [(4, 8), (2, 16), (8, 8)])
def test_wavefronts_have_nearly_as_many_tiles_as_enumeration_finds(edges):
    n, steps = 50, 20
    plan = BandPlan(nest=nest_at(n, steps), edges=(*edges, None), order=(0, 1))
    first, second = edges
    tiles = {(t // first, (2 * t + i) // second) for t in range(steps) for i in range(1, n)}
    widths, _ = wavefront_widths(plan, 0, 1)
    assert abs(sum(widths) - len(tiles)) <= 0.2 * len(tiles)
    assert abs(len(widths) - len({a + b for a, b in tiles})) <= 2


def test_two_threads_take_half_the_time_of_full_wavefronts_and_no_less():
    plan = BandPlan(nest=nest_at(500, 20), edges=(4, 8, None), order=(0, 1))
    alone, shared = (wavefront_seconds(plan, 1.0, threads, SMALL.costs) for threads in (1, 2))
    assert alone == 1.0
    assert 0.5 < shared < 0.65


def test_tiles_beyond_the_cache_and_short_rows_cost_more():
    nest = nest_at(600, 40)
    known = NestTimes(nest, Projected(target=SMALL))
    fitting, large, short = (full_tiles_seconds(BandPlan(nest=nest, edges=edges, order=(0, 1, 2)), known)
                             for edges in ((4, 16, 128), (16, 512, 512), (4, 16, 8)))
    assert fitting < large
    assert fitting < short


def test_rows_that_fit_stay_whole():
    tiled = tile(schedule_of(100, 20), TilingOptions(target=SMALL, split=False))
    (band,) = tiled.bands
    assert band.wavefront
    assert band.plan.edges[2] is None
    assert all(edge is not None for edge in band.plan.edges[:2])


def test_an_exact_choice_needs_no_threads():
    tiled = tile(schedule_of(100, 20), TilingOptions(target=replace(SMALL, cores=1)))
    assert tiled.bands[0].wavefront


def test_threads_do_not_wait_for_short_last_tiles():
    """50 steps in tiles of 16 leave 2: three whole tiles on two threads wait as four would."""
    shares = [busiest_share(BandPlan(nest=nest_at(1000, 50), edges=(steps, 64, None), order=(0, 1)), 2)
              for steps in (16, 25)]
    assert shares[0] > 0.6
    assert 0.5 <= shares[1] < 0.53


@pytest.mark.parametrize("steps", and_campaign([50], [22]))
def test_time_is_cut_into_even_shares(steps):
    tiled = tile(schedule_of(700, steps), TilingOptions(target=SMALL))
    edges = tiled.bands[0].plan.edges
    assert -steps % edges[0] <= steps // edges[0]    # what the last tile lacks
    assert edges[1] % (2 * edges[0]) == 0 or edges[1] & (edges[1] - 1) == 0


def test_a_tile_may_touch_more_over_its_steps_than_the_cache_holds_as_long_as_two_steps_fit():
    target = replace(SMALL, caches=(SMALL.caches[0], replace(SMALL.caches[1], size_bytes=32 << 10)))
    nest = nest_at(1000, 48)
    (band,) = tile(schedule_of(1000, 48), TilingOptions(sizes="auto", target=target)).bands
    steps, rows, columns = (min(size, extent) for size, extent in zip(band.sizes, (48, 998, 998), strict=True))
    capacity = SMALL.costs.usable_share * (32 << 10)
    assert working_set_bytes(nest, (2, rows, columns), 64) <= capacity < working_set_bytes(
        nest, (steps, rows, columns), 64)


def test_one_thread_has_skewed_tiles_by_the_projected_time():
    """The box around skewed loops, which other nests are searched by, says nothing about what their tiles reuse."""
    (band,) = tile(schedule_of(1000, 100), TilingOptions(target=SMALL, parallel=False)).bands
    assert band.plan is not None
    assert not band.wavefront
    assert band.plan.choice == choose_skewed_tile(band.plan.problem, SMALL)
    assert share_saved(band.plan, SMALL) > 0.1
    bare = replace(band.plan, edges=(None,) * 3, order=())
    assert share_saved(bare, SMALL) == 0


def test_one_thread_leaves_a_stencil_alone_whose_tiles_would_save_no_time():
    (band,) = tile(schedule_of(20, 100), TilingOptions(target=SMALL, parallel=False)).bands
    assert band.untiled is not None
    assert band.untiled.reason == "they would save less than 10% of the projected time"


HEAT = Path(__file__).parents[2] / "kernels" / "heat_3d.c"


def test_one_thread_has_tiles_over_time_in_space_of_three_dimensions():
    """Whole planes of both grids lie in no cache near the core, so rows come in anew at every step without tiles."""
    target = Target(cores=1, vector_bits=256, caches=(
        CacheLevel(level=1, size_bytes=32 << 10, ways=8), CacheLevel(level=2, size_bytes=512 << 10, ways=8),
        CacheLevel(level=3, size_bytes=32 << 20, ways=16)))
    (band,) = tile(pluto_of_file(HEAT), TilingOptions(target=target, parallel=False)).bands
    assert band.plan is not None
    assert len(band.plan.order) >= 3
    assert share_saved(band.plan, target) > 0.4


THREE_LEVELS = Target(cores=1, vector_bits=256, frequency_hz=2.4e9, caches=(
    CacheLevel(level=1, size_bytes=32 << 10, ways=8), CacheLevel(level=2, size_bytes=512 << 10, ways=8),
    CacheLevel(level=3, size_bytes=32 << 20, ways=16, shared_by=2)))


@pytest.mark.parametrize("cores", and_campaign([1], [2]))
def test_rows_in_space_of_three_dimensions_stay_whole_beyond_the_private_caches(cores):
    """Rows of 32 took 1.5 to 1.8 times as long at 100, 250 and 400 points a side (Zen 3, one thread)."""
    target = replace(THREE_LEVELS, cores=cores)
    (band,) = tile(pluto_of_file(HEAT), TilingOptions(target=target)).bands
    assert band.plan.edges[3] is None or band.plan.edges[3] >= 1024
    assert band.plan.edges[0] is not None


def test_statements_of_a_step_do_not_crowd_each_other_out_of_a_cache():
    """Of two sweeps one after the other each has the cache to itself: both rows together exceed it."""
    nest = nest_at(1000, 40)
    first, second = nest.one_by_one
    assert {first.deepest, second.deepest} == {(name,) for name in nest.deepest}
    assert len(first.references) == len(second.references) == 2
    crowded = replace(SMALL, caches=(replace(SMALL.caches[0], size_bytes=40 << 10), SMALL.caches[1]))
    plan = BandPlan(nest=nest, edges=(4, 64, None), order=(0, 1))
    dependent = replace(nest, row_independent=(False, False, False))
    apart, together = (skewed_tiles._step_transfers(own, tile_of(own), Projected(target=crowded), structure_of_rows())
                       for own in (plan.nest, dependent))
    assert apart[0] < together[0]


def tile_of(nest):
    extents = (1, 64, 998)
    return BandPlan(nest=replace(nest, extents=extents, density=2.0), edges=(None,) * 3, order=())


def structure_of_rows():
    return tuple(Level(loop, 1) for loop in range(3))


@pytest.mark.parametrize(("run", "slower"), [(128, 1.75), (1365, 1.75), (2730, 1.375), (1 << 20, 1.001)])
def test_short_runs_arrive_slowly_from_memory(run, slower):
    assert skewed_tiles._run_slowdown(run, SMALL.costs) == pytest.approx(slower, abs=1e-3)


@pytest.mark.parametrize(("edge", "pieces"), [(None, 1), (98, 98 / 98 + 97 / 98), (32, (1 + 97 / 32) * 32 / 98)])
def test_a_row_that_moves_on_is_cut_at_both_of_its_ends(edge, pieces):
    plan = BandPlan(nest=nest_at(100, 20), edges=(4, 8, edge), order=(0, 1, 2))
    assert skewed_tiles._pieces_of_a_row(plan, 2) == pytest.approx(pieces, rel=0.02)


def test_data_of_another_core_come_once_to_tiles_beyond_the_private_caches():
    target = replace(THREE_LEVELS, cores=2)
    near, memory = target.bandwidth(3), target.bandwidth(0)
    data, again = 1e6, 5e6
    times = [0.0, (data + again) / near, data / memory]
    found = skewed_tiles._handed_over(times, times, target)
    assert found == pytest.approx(again / near + data / (target.costs.handed_over_share * memory))
    fitting = [0.0, data / near, data / memory]
    assert skewed_tiles._handed_over(fitting, fitting, target) == pytest.approx(
        data / (target.costs.handed_over_share * memory))
