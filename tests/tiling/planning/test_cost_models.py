"""Three cost models: their order, their extremes, and what each sees."""

from dataclasses import replace

import pytest

from polysched.target.target import CacheLevel, Target
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.planning.band_plan import BandPlan, plan_structure
from polysched.tiling.planning.cost_models import CostModel, Profiled, Projected, SpeedOfLight
from polysched.tiling.planning.register_shape import register_shapes
from tests.tiling.footprints.test_traffic import product_nest, reference

MACHINE = Target(vector_bits=512, vector_registers=32, frequency_hz=2e9, caches=(
    CacheLevel(level=1, size_bytes=32 << 10), CacheLevel(level=2, size_bytes=1 << 20)))
NEST = replace(product_nest(512), deepest=("S",), row_independent=(True, True, False))


def plan(edges=(None, None, None), shape=None, nest=NEST):
    return BandPlan(nest=nest, edges=edges, order=tuple(i for i, e in enumerate(edges) if e), shape=shape)


def test_light_is_never_slower_than_the_projection():
    for edges in ((None, None, None), (32, 32, 32), (128, 64, 16)):
        for shape in (None, register_shapes(NEST, "S", MACHINE)[0]):
            assert SpeedOfLight(target=MACHINE).seconds(plan(edges, shape)) <= Projected(target=MACHINE).seconds(
                plan(edges, shape))


def test_light_of_a_product_is_its_operations_over_the_peak():
    assert SpeedOfLight(target=MACHINE).seconds(plan()) == pytest.approx(2 * 512 ** 3 / (2 * 8 * 2 * 2e9))


def test_light_of_a_copy_is_its_traffic_over_the_bandwidth():
    nest = Nest(loops=("i",), extents=(10 ** 6,), parameters={}, deepest=("S",), operations=0, row_independent=(True,),
                references=(reference("x", ((1,),)), reference("y", ((1,),), writes=True)))
    one = plan((None,), nest=nest)
    assert SpeedOfLight(target=MACHINE).seconds(one) == pytest.approx(2 * 8e6 / MACHINE.bandwidth(0))


def test_the_projection_prefers_tiles_and_register_blocks():
    model = Projected(target=MACHINE)
    shape = register_shapes(NEST, "S", MACHINE)[0]
    untiled, tiled, blocked = plan(), plan((64, 64, 64)), plan((64, 64, 64), shape)
    assert model.seconds(blocked) < model.seconds(tiled) <= model.seconds(untiled)


def test_tiny_tiles_pay_for_starting_their_rows():
    model = Projected(target=MACHINE)
    assert model.seconds(plan((64, 2, 64))) > 2 * model.seconds(plan((64, 64, 64)))


def test_tiles_pay_for_register_blocks_that_they_cut_off_and_for_their_sums():
    model, shape = Projected(target=MACHINE), register_shapes(NEST, "S", MACHINE)[0]
    rows, columns = shape.row_count, shape.column_count
    whole = model.seconds(plan((8 * rows, 4 * columns, 64), shape))
    assert model.seconds(plan((8 * rows + rows // 2 + 1, 4 * columns + 8, 64), shape)) > whole
    assert model.seconds(plan((8 * rows, 4 * columns, 8), shape)) > 1.1 * whole   # loads and stores each sum more often


def test_starts_of_rows_hide_behind_no_transfer():
    model, moving = Projected(target=MACHINE), replace(NEST, row_independent=(True, True, True), instructions=0)
    for edge in (8, 64):
        short = plan((64, 64, edge), nest=moving)
        structure = plan_structure(short)
        moved = sum(model.transfer_seconds(short, structure)) + model.load_cycles(
            short, structure) / MACHINE.frequency_hz
        starts = 512 ** 3 * MACHINE.costs.row_cycles / short.edges[structure[-1].loop] / MACHINE.frequency_hz
        assert model.seconds(short) == pytest.approx(starts + moved)


def test_a_sequential_row_gets_no_lanes():
    parallel, sequential = plan(), plan(nest=replace(NEST, row_independent=(False, False, False)))
    assert Projected(target=MACHINE).seconds(sequential) > Projected(target=MACHINE).seconds(parallel)


def test_profiled_asks_the_machine():
    asked = []
    def run(candidate: BandPlan) -> float:
        asked.append(candidate)
        return 0.25
    model: CostModel = Profiled(run=run)
    assert model.seconds(plan()) == 0.25
    assert len(asked) == 1
