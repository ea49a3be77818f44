"""Steps that all threads take together cover the loop, in whole granules, and only where threads share panels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.tiling.planning.band_plan import BandPlan, TileLevel
from polysched.tiling.planning.register_shape import register_shapes
from polysched.tiling.planning.shared_steps import in_steps, lost_by_steps
from polysched.tiling.planning.tile_problem import TileProblem, tile_problem
from tests.tiling.footprints.test_traffic import product_nest
from tests.tiling.planning.test_tile_search import SMALL


def planned(edges: tuple[int, ...] = (32, 64, 100), n: int = 1000) -> tuple[BandPlan, TileProblem]:
    nest = product_nest(n)
    shape = register_shapes(nest, "S", SMALL)[0]
    problem = tile_problem(nest, SMALL, shape=shape, innermost=1, level=2, parallel=(0,), wavefront=False, threads=2)
    return BandPlan(nest=nest, edges=edges, order=(0, 2, 1), shape=shape), replace(problem, shares=True)


def test_each_step_is_shorter_than_the_loop_and_its_tiles_cover_it() -> None:
    plan, problem = planned()
    found = list(in_steps(plan, problem, free=(0,)))
    assert found
    for step in found:
        level, = step.outer
        loop, = level.order
        size = level.edges[loop]
        assert loop in (1, 2)
        assert size is not None
        assert size < plan.nest.extents[loop]
        assert step.in_steps
        inside = step.edges[loop]
        assert (loop in step.order) == (inside is not None)
        if inside is not None:
            assert inside % problem.granules[loop] == 0
            assert inside * -(-size // (plan.edges[loop] or 1)) >= size, "as many tiles as before reach its end"
        assert all(step.edges[k] == plan.edges[k] for k in range(3) if k != loop)
        assert step.order == tuple(k for k in plan.order if k != loop or inside is not None)


def test_loops_that_run_on_threads_are_left_to_them() -> None:
    plan, problem = planned()
    assert {k for s in in_steps(plan, problem, free=(0, 1)) for k in s.outer[0].order} == {2}
    assert list(in_steps(plan, problem, free=(0, 1, 2))) == []


def test_without_shared_panels_there_are_none() -> None:
    plan, problem = planned()
    assert list(in_steps(plan, replace(problem, shares=False), free=(0,))) == []
    assert list(in_steps(replace(plan, shape=None), problem, free=(0,))) == []
    outer = TileLevel((None, 200, None), (1,))
    assert list(in_steps(replace(plan, outer=(outer,)), problem, free=(0,))) == []


def test_a_loop_of_one_tile_has_no_steps_but_shares() -> None:
    plan, problem = planned(edges=(32, 64, 1000))
    sizes = {s.outer[0].edges[2] for s in in_steps(plan, problem, free=(0, 1))}
    assert all(size is not None and size < 1000 for size in sizes)


def test_sums_that_start_elsewhere_move_more_bytes_in_steps_of_the_sum() -> None:
    plan, problem = planned()
    by_loop = {s.outer[0].order[0]: s for s in in_steps(plan, problem, free=(0,))}
    assert lost_by_steps(plan, 64) == 0
    assert lost_by_steps(by_loop[2], 64) == 0, "they start in their own place"
    references = tuple(replace(r, elsewhere=r.writes) for r in plan.nest.references)
    moved = {k: replace(s, nest=replace(s.nest, references=references)) for k, s in by_loop.items()}
    assert lost_by_steps(moved[2], 64) >= 1000 * 1000 * 8
    assert lost_by_steps(moved[1], 64) == 0


@pytest.mark.parametrize("n", [16, 1000])
def test_short_loops_have_shorter_steps(n: int) -> None:
    plan, problem = planned(edges=(8, 8, 8), n=n)
    assert all((s.outer[0].edges[k] or 0) < n for s in in_steps(plan, problem, free=(0,)) for k in s.outer[0].order)
