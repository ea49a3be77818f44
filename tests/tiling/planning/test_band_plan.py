"""Plans of bands: edges of the innermost tiles, orders as they were made, and the loops for the models."""

from __future__ import annotations

import pytest

from polysched.tiling.planning.band_plan import BandPlan, TileLevel, Untiled, in_order_made, plan_structure
from tests.tiling.footprints.test_traffic import product_nest

NEST = product_nest(100)


def plan(edges: tuple[int | None, ...], order: tuple[int, ...], *outer: TileLevel) -> BandPlan:
    return BandPlan(nest=NEST, edges=edges, order=order, outer=outer)


@pytest.mark.parametrize(("given", "sizes"), [
    (plan((None, None, None), ()), ()),
    (plan((8, 16, 32), (0, 1, 2)), (8, 16, 32)),
    (plan((8, None, 32), (0, 2)), (8, 100, 32)),                               # one tile along j
    (plan((8, None, None), (0,), TileLevel((50, 25, None), (0, 1))), (8, 25, 100)),
])
def test_edges_of_the_innermost_tiles(given: BandPlan, sizes: tuple[int, ...]) -> None:
    assert given.sizes == sizes
    assert given.is_untiled is (not sizes)


def test_loops_of_bands_below_have_no_size_of_this_band() -> None:
    made = BandPlan(nest=NEST, edges=(8, 16, 32), order=(0, 1, 2), below=1)
    assert made.sizes == (8, 16)


def test_orders_are_those_that_were_made() -> None:
    outer = TileLevel((50, 50, None), (0, 1))
    made = in_order_made(plan((8, 16, 32), (0, 1, 2), outer), (1, 0, 2, 0, 1))
    assert made.outer[0].order == (1, 0)
    assert made.order == (2, 0, 1)
    assert made.edges == (8, 16, 32)


@pytest.mark.parametrize("members", [(), (0, 1), (0, 0, 1)])
def test_other_loops_leave_the_plan_as_it_is(members: tuple[int, ...]) -> None:
    given = plan((8, 16, 32), (0, 1, 2))
    assert in_order_made(given, members) is given


def test_the_models_see_tiles_then_points() -> None:
    levels = plan_structure(plan((8, None, 32), (2, 0)))
    assert [(level.loop, level.step) for level in levels[:2]] == [(2, 32), (0, 8)]
    assert sorted(level.loop for level in levels[2:]) == [0, 1, 2]
    assert {level.loop for level in plan_structure(plan((None, None, None), ()))} == {0, 1, 2}


def test_a_band_without_tiles_has_a_reason() -> None:
    assert Untiled(reason="one loop alone").candidate is None
