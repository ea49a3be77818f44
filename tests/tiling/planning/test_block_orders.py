"""Orders of the loops around a register block: what moves least, and whose panels stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.traffic import traffic_bytes
from polysched.tiling.planning.band_plan import BandPlan, plan_structure
from polysched.tiling.planning.block_orders import around_panels, waiting_seconds, with_blocks, without_tiles
from polysched.tiling.planning.register_shape import RegisterShape
from tests.tiling.footprints.test_traffic import product_nest

MACHINE = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
    CacheLevel(level=1, size_bytes=1 << 15, ways=8), CacheLevel(level=2, size_bytes=1 << 20, ways=8)))
SHAPE = RegisterShape(statement="S0", rows=0, columns=1, row_count=8, column_count=16, inner=(2,), outer=(), cycles=1.0)


def nest_of(*extents: int, known: bool = True) -> Nest:
    return replace(product_nest(1), extents=extents, constant=(known,) * 3)


def plan_of(nest: Nest, shape: RegisterShape = SHAPE) -> BandPlan:
    return BandPlan(nest=nest, edges=(None,) * 3, order=(), shape=shape)


@pytest.mark.parametrize("extents", [(64, 4096, 512), (4096, 64, 512)])
def test_the_order_that_moves_less_is_taken(extents: tuple[int, int, int]) -> None:
    made = with_blocks(plan_of(nest_of(*extents)), MACHINE)

    def moved(plan: BandPlan) -> int:
        return sum(traffic_bytes(plan.nest, plan_structure(plan), MACHINE.caches[0].size_bytes, 8))
    assert moved(made) <= min(moved(replace(made, rows_first=first)) for first in (True, False))
    alone = without_tiles(made.nest, SHAPE, MACHINE)
    assert alone is not None
    assert alone.rows_first == made.rows_first


def test_without_a_block_there_is_nothing_to_order() -> None:
    bare = replace(plan_of(nest_of(64, 64, 64)), shape=None)
    assert with_blocks(bare, MACHINE) is bare
    assert without_tiles(bare.nest, None, MACHINE) is None


@pytest.mark.parametrize(("extents", "known", "outside"), [
    ((32, 32, 512), True, [True]),          # four blocks of rows read each of two panels
    ((24, 32, 512), True, []),              # three do not pay for one
    ((32, 16, 512), True, []),              # one panel for two threads
    ((32, 32, 512), False, []),             # no panel has room for a sum of unknown length
    ((32, 32, 1 << 15), True, []),          # nor for one so long
])
def test_panels_that_threads_keep_to_themselves(extents: tuple[int, int, int], known: bool,
                                                outside: list[bool]) -> None:
    found = around_panels(plan_of(nest_of(*extents, known=known)), TilingOptions(target=MACHINE))
    assert [plan.columns_outside for plan in found] == outside


def test_one_thread_keeps_its_only_panel() -> None:
    (found,) = around_panels(plan_of(nest_of(32, 16, 512)), TilingOptions(target=MACHINE, parallel=False))
    assert found.columns_outside


def test_threads_share_panels_where_another_loop_is_outermost() -> None:
    shape = RegisterShape(statement="S0", rows=1, columns=2, row_count=8, column_count=16, inner=(), outer=(0,),
                          cycles=1.0)
    found = around_panels(plan_of(nest_of(6, 32, 32), shape), TilingOptions(target=MACHINE))
    assert [plan.columns_outside for plan in found] == [False, True]
    assert all(waiting_seconds(plan, TilingOptions(target=MACHINE)) > 0 for plan in found)
