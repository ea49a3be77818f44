"""Tiles, orders and blocks by hand that contradict each other, or that nothing can use, are refused."""

from __future__ import annotations

from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.target.target import Target
from polysched.tiling.explain import explain_text, explanations
from polysched.tiling.options import BandOptions, TilingOptions
from polysched.tiling.planning.by_hand import Choice, Unused, refuse_unused
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.tiling import kernels
from tests.tiling.test_tile_bands import plain, scheduled, square_product

AVX512 = Target(vector_bits=512, vector_registers=32, cores=2)


def refusal(scop: Any = None, **options: Any) -> UsageError:
    """What `tile` says about options by hand for a matrix product, or another region."""
    with pytest.raises(UsageError) as refused:
        tile(scheduled(scop if scop is not None else kernels.product()), TilingOptions(
            **{"target": AVX512, "register": False, **options}))
    return refused.value


@pytest.mark.parametrize(("options", "witness"), [
    ({"sizes": (64, 64, 64), "outer_sizes": ((32, 32, 32),)}, "band 0, loop i: tiles of 64 inside tiles of 32"),
    ({"sizes": (16, 16, 64), "outer_sizes": (32,)}, "band 0, loop k: tiles of 64 inside tiles of 32"),
    ({"sizes": 8, "outer_sizes": ((32, 64, 16), 32)}, "band 0, loop k: tiles of 32 inside tiles of 16"),
    ({"sizes": 24, "outer_sizes": ((32, 16, 0), (0, 128, 0))}, "band 0, loop j: tiles of 128 inside tiles of 16"),
    ({"sizes": (64, 8, 8), "outer_sizes": ((32, 0, 0), (0, 16, 0))}, "band 0, loop i: tiles of 64 inside tiles of 32"),
    ({"outer_sizes": (16, 64)}, "band 0, loop i: tiles of 64 inside tiles of 16"),
])
def test_an_inner_edge_larger_than_an_outer_one_is_refused(options, witness):
    error = refusal(**options)
    assert error.problem == "a tile by hand is larger than the tile around it"
    assert error.witness == witness
    assert "outermost first" in (error.hint or "")


@pytest.mark.parametrize(("options", "outer", "inner"), [
    ({"sizes": 32, "outer_sizes": (32,)}, (32, 32, 32), (32, 32, 32)),                # one inner tile each
    ({"sizes": 24, "outer_sizes": (32,)}, (32, 32, 32), (24, 24, 24)),                # the last inner tile is cut off
    ({"sizes": (64, 8, 8), "outer_sizes": ((0, 32, 32),)}, (None, 32, 32), (64, 8, 8)),   # none around the large edge
    ({"outer_sizes": (4,)}, (4, 4, 4), None),                       # the model's own tiles are no contradiction
    ({"sizes": 100000, "outer_sizes": (200000,)}, 3 * (200000,), 3 * (100000,)),      # larger than any loop: common
])
def test_edges_that_can_be_meant_are_kept(options, outer, inner):
    (band,) = tile(scheduled(kernels.product()), plain(**options)).bands
    assert band.plan is not None
    assert [level.edges for level in band.plan.outer] == [outer]
    assert inner is None or band.plan.edges == inner


def test_edges_beyond_a_loop_contradict_nothing():
    """Both tiles are the whole loop where it is known to be short."""
    tile(scheduled(square_product(16)), plain(sizes=64, outer_sizes=(32,)))
    assert refusal(square_product(33), sizes=64, outer_sizes=(32,)).witness == (
        "band 0, loop i: tiles of 64 inside tiles of 32")


def test_a_register_block_larger_than_its_tile_is_refused():
    error = refusal(sizes=(4, 64, 64), register=(8, 16))
    assert error.problem == "the register block is larger than the tiles around it"
    assert error.witness == "band 0, loop i: a block of 8 rows in tiles of 4"
    assert refusal(sizes=(64, 8, 64), register=(8, 16)).witness == (
        "band 0, loop j: a block of 16 columns in tiles of 8")
    assert refusal(outer_sizes=(4,), register=(8, 16)).witness == "band 0, loop i: a block of 8 rows in tiles of 4"
    made = tile(scheduled(kernels.product()), TilingOptions(sizes=(8, 16, 4), register=(8, 16), target=AVX512))
    assert made.bands[0].register == (8, 16)


def test_the_model_takes_a_block_that_fits_tiles_by_hand():
    made = tile(scheduled(kernels.product()), TilingOptions(sizes=(4, 16, 64), target=AVX512))
    assert made.bands[0].register[0] <= 4
    assert made.bands[0].register[1] <= 16
    none = tile(scheduled(kernels.product()), TilingOptions(sizes=(1, 4, 4), target=AVX512))
    assert none.bands[0].register == ()


@pytest.mark.parametrize(("options", "problem", "witness"), [
    ({"sizes": 8, "order": (3, 0)}, "no band has a loop of this order of tiles",
     "3,0: the deepest band has loops 0 to 2"),
    ({"sizes": 8, "point_order": (0, 5)}, "no band has a loop of this order inside tiles",
     "0,5: the deepest band has loops 0 to 2"),
    ({"sizes": 8, "outer_sizes": (16,), "outer_orders": ((7,),)}, "no band has a loop of this order of outer tiles",
     "7: the deepest band has loops 0 to 2"),
])
def test_what_no_band_is_deep_enough_for_is_refused(options, problem, witness):
    error = refusal(**options)
    assert (error.problem, error.witness) == (problem, witness)
    assert error.hint


def test_edges_that_no_band_is_deep_enough_for_are_told():
    """One list may serve several programs."""
    made = tile(scheduled(kernels.product()), plain(sizes=(8, 8, 4, 8), outer_sizes=((16, 16, 16, 16),)))
    assert made.bands[0].sizes == (8, 8, 4)
    assert made.fallbacks == (
        "tiles of 16,16,16,16: the deepest band has 3 loops, so what follows 16,16,16 is of no use",
        "tiles of 8,8,4,8: the deepest band has 3 loops, so what follows 8,8,4 is of no use")


@pytest.mark.parametrize(("options", "problem"), [
    ({"outer_sizes": (64,)}, "no band can have outer tiles"),
    ({"order": (0,)}, "no band can have an order of tiles"),
    ({"point_order": (0,)}, "no band can have an order inside tiles"),
])
def test_what_no_band_is_tiled_for_is_refused(options, problem):
    error = refusal(kernels.copy(), **options)
    assert error.problem == problem
    assert error.witness == "band 0: one loop alone has nothing to reuse between tiles"


def test_orders_of_loops_that_are_not_there_are_refused_without_tiles():
    for given in ({"order": (0,)}, {"point_order": (0,)}):
        with pytest.raises(UsageError, match="an order of loops needs tiles"):
            TilingOptions(sizes="off", **given)


def test_an_order_inside_tiles_that_a_register_block_replaces_is_refused():
    error = refusal(sizes=64, register=True, point_order=(1, 2, 0))
    assert error.problem == "no band can have an order inside tiles"
    assert error.witness is not None
    assert error.witness.startswith("band 0: its register block of ")


def unused(**options: Any) -> list[TiledSchedule]:
    """A product and a copy, tiled as regions of one program."""
    return [tile(scheduled(scop), plain(**options), alone=False) for scop in (kernels.product(), kernels.copy())]


@pytest.mark.parametrize("options", [{"sizes": 8, "order": (2, 0)}, {"outer_sizes": (512,)}])
def test_what_one_region_uses_is_not_refused_for_others(options):
    every = unused(**options)
    refuse_unused([t.unused for t in every])
    assert not every[0].unused
    with pytest.raises(UsageError):
        refuse_unused([t.unused for t in every[1:]])


def test_what_no_region_uses_is_refused():
    with pytest.raises(UsageError, match="no band has a loop of this order of tiles") as refused:
        refuse_unused([t.unused for t in unused(sizes=8, order=(3,))])
    assert refused.value.witness == "3: the deepest band has loops 0 to 2"


def test_the_explanation_has_the_orders_as_they_were_made():
    """The loop for threads goes outside of its level whatever the order by hand."""
    options = plain(sizes=8, outer_sizes=(32,), order=(2, 1, 0), outer_orders=((2, 1, 0),))
    made = tile(scheduled(kernels.product()), options)
    lines = explain_text(explanations(made, AVX512)[0]).splitlines()
    assert lines[1:3] == ["  tiles of tiles, outermost first: j: 32, k: 32, i: 32",
                          "  tiles, outermost first: k: 8, j: 8, i: 8"]


def test_an_order_for_tiles_that_the_model_does_not_make_is_told():
    scop = from_c_text("void f(int n, float A[n][n], float B[n][n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) "
                       "for (int j = 0; j < n; j++) B[i][j] = 2.0f * A[i][j];\n#pragma endscop\n}\n")
    made = tile(scheduled(scop), TilingOptions(order=(1, 0), target=AVX512))
    (told,) = made.fallbacks
    assert told.startswith("the order of loops over tiles by hand orders nothing, since the model chose no tiles "
                           "(band 0: they would save less than 10%")


def test_every_level_and_band_of_an_option_is_a_choice_of_its_own():
    options = plain(sizes=8, outer_sizes=(32, 16), outer_orders=((7,), (0, 8)), order=(9,),
                    bands={0: BandOptions(point_order=(5,)), 3: BandOptions(sizes=4)})
    made = tile(scheduled(kernels.product()), options, alone=False)
    assert [unused.choice for unused in made.unused] == [
        Choice(option="order"), Choice(option="outer_orders", level=0), Choice(option="outer_orders", level=1),
        Choice(option="point_order", band=0), Choice(option="bands", band=3)]


def test_a_level_that_one_region_uses_is_no_excuse_for_another_level():
    first, second = (Unused(choice=Choice(option="outer_orders", level=level), problem=f"level {level}", witness="",
                            hint="") for level in (0, 1))
    refuse_unused([(first,), (second,)])
    with pytest.raises(UsageError, match="level 1"):
        refuse_unused([(second,), (first, second)])
