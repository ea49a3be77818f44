"""Which bands get a plan: permutable ones, once per nest unless nested tiles are asked for, each with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.tree.loop_tree import Band, from_isl, walk
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.options import BandOptions
from polysched.tiling.planning.band_plan import BandPlan, Untiled
from polysched.tiling.planning.plan import plan_bands
from tests.schedules import pluto_of
from tests.scop.c_frontend.read_region import in_function
from tests.tiling import kernels
from tests.tiling.planning.test_tile_search import SMALL

CHAIN = from_c_text(in_function(
    "for (int t = 0; t < m; t++) for (int i = 1; i < n - 1; i++) x[i] += x[n - 1 - i] * x[t];"))


def plans(scop: Scop, **options: Any) -> dict[int, BandPlan | Untiled]:
    dependences = analyse(scop)
    tree = from_isl(pluto(dependences).tree)
    bands = [node for node in walk(tree.root) if isinstance(node, Band)]
    found, _ = plan_bands(dependences, tree, {id(band): k for k, band in enumerate(bands)},
                          TilingOptions(target=SMALL, **options))
    return found


def test_nothing_is_planned_where_nobody_asked() -> None:
    assert plans(kernels.product(), sizes="off", register=False) == {}
    only = plans(kernels.product(), sizes="off", register=False, bands={0: BandOptions(sizes=4)})
    assert isinstance(only[0], BandPlan)


@pytest.mark.parametrize(("sizes", "edges"), [(8, (8, 8, 8)), ((4, 5, 6), (4, 5, 6))])
def test_edges_by_hand_are_kept(sizes: int | tuple[int, ...], edges: tuple[int, ...]) -> None:
    plan = plans(kernels.product(), sizes=sizes, register=False)[0]
    assert isinstance(plan, BandPlan)
    assert plan.edges == edges
    assert plan.choice is None


def test_a_search_fits_its_cache_and_says_how_it_found_the_edges() -> None:
    plan = plans(kernels.product(), sizes="auto", register=False, parallel=False, parameters={"N": 2000})[0]
    assert isinstance(plan, BandPlan)
    assert plan.choice is not None
    assert plan.nest.extents == (2000,) * 3
    assert all(e is None or 0 < e < 2000 for e in plan.edges)


def test_a_lone_loop_is_tiled_only_for_a_tuple() -> None:
    alone = plans(kernels.copy(), sizes=8, register=False)[0]
    assert isinstance(alone, Untiled)
    assert alone.reason == "one loop alone has nothing to reuse between tiles"
    assert isinstance(plans(kernels.copy(), sizes=(8,), register=False)[0], BandPlan)


def test_a_band_that_cannot_be_interchanged_has_no_plan() -> None:
    found = plans(CHAIN, sizes=8, register=False)
    assert all(isinstance(p, Untiled) or p.nest.depth > 1 for p in found.values())


def test_bands_inside_a_tiled_one_are_left() -> None:
    scop = kernels.elimination()
    found = plans(scop, sizes=4, register=False)
    inside = [p for p in found.values() if isinstance(p, Untiled) and p.reason == "it stands inside a tiled band"]
    nested = plans(scop, sizes=4, register=False, nested=True)
    assert not any(isinstance(p, Untiled) and p.reason == "it stands inside a tiled band" for p in nested.values())
    assert len(nested) == len(found)
    assert len(inside) <= len(found) - 1


def test_a_register_block_alone_needs_no_tiles() -> None:
    plan = plans(kernels.product(), sizes="off", register=True)[0]
    assert isinstance(plan, BandPlan)
    assert plan.shape is not None
    assert plan.order == ()
    assert not plan.is_untiled


def test_single_bands_may_be_decided_otherwise() -> None:
    plan = plans(kernels.product(), sizes=4, register=False, bands={0: BandOptions(sizes=(2, 3, 5))})[0]
    assert isinstance(plan, BandPlan)
    assert plan.edges == (2, 3, 5)
    other = plans(kernels.product(), sizes=4, register=False, bands={7: BandOptions(sizes=2)})[0]
    assert isinstance(other, BandPlan)
    assert other.edges == (4, 4, 4)


SERVER = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
    CacheLevel(level=1, size_bytes=48 << 10, ways=12), CacheLevel(level=2, size_bytes=2 << 20, ways=16),
    CacheLevel(level=3, size_bytes=32 << 20, ways=16, shared_by=2)))
DOUBLES = """void f(int n, double C[n][n], double A[n][n], double B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(("parameters", "steps"), [({}, True), ({"n": 1024}, False), ({"n": 2048}, True)])
def test_sizes_that_are_guesses_may_be_larger(parameters: dict[str, int], steps: bool) -> None:
    """All of B fits the last cache for 1024, and does not for 2048: steps serve both."""
    (band,) = tile(pluto_of(DOUBLES), TilingOptions(target=SERVER, parameters=parameters)).bands
    assert band.plan is not None
    assert band.plan.in_steps == steps
