"""The integer search against exhaustive enumeration, and its constraints."""

from dataclasses import replace
from itertools import product

import pytest

from polysched.target.target import CacheLevel, Target
from polysched.tiling.register_shape import register_shapes
from polysched.tiling.tile_search import candidate_edges, choose_tile, tile_problem
from polysched.tiling.traffic import structure_of, traffic_bytes, working_set_bytes
from tests.tiling.test_traffic import product_nest, reference

SMALL = Target(vector_bits=256, vector_registers=16, cores=2, caches=(
    CacheLevel(level=1, size_bytes=8 << 10), CacheLevel(level=2, size_bytes=64 << 10)))


def problem(nest, **changes):
    made = tile_problem(nest, SMALL, shape=None, innermost=1, level=2, parallel=(), wavefront=False, threads=1)
    return replace(made, **changes)


def in_lines(nest, edges, order, capacity):
    """What the search minimises without start-up costs, computed by the model itself."""
    return sum(traffic_bytes(nest, structure_of((edges,), (order, (0, 2, 1)), nest.depth), capacity, 64)) / 64


def test_the_search_finds_what_enumeration_finds():
    nest = product_nest(96)
    search = problem(nest, row_lines=lambda edge: 0.0)
    found = choose_tile(search)
    assert found is not None
    best = min(
        in_lines(nest, edges, order, search.capacity_bytes)
        for order in search.orders
        for edges in product(*([e for e, _ in candidate_edges(search, loop, order)] for loop in range(3)))
        if working_set_bytes(nest, edges, 64) <= search.capacity_bytes)
    assert found.optimal
    assert in_lines(nest, found.edges, found.order, search.capacity_bytes) <= 1.1 * best


def test_the_tile_fits_its_cache_and_says_so():
    nest = product_nest(1024)
    found = choose_tile(problem(nest, row_lines=lambda edge: 0.0))
    assert working_set_bytes(nest, found.edges, 64) <= 1.1 * problem(nest).capacity_bytes
    assert "capacity of the tile's cache" in found.binding


def test_a_register_block_sets_the_granules():
    nest = product_nest(1024)
    shape = register_shapes(nest, "S", SMALL)[0]
    search = tile_problem(nest, SMALL, shape=shape, innermost=1, level=2, parallel=(0,), wavefront=False, threads=2)
    found = choose_tile(search)
    assert found.edges[shape.rows] % shape.row_count == 0
    assert found.edges[shape.columns] % shape.column_count == 0
    assert found.order[0] == 0


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_tiles_of_the_parallel_loop_share_out_evenly(threads):
    search = tile_problem(product_nest(1024), SMALL, shape=None, innermost=1, level=2, parallel=(0,), wavefront=False,
                          threads=threads)
    found = choose_tile(search)
    tiles = -(-1024 // found.edges[0])
    rounds = -(-tiles // threads)
    assert tiles / (rounds * threads) >= 0.85


def test_skewed_nests_keep_their_order_and_powers_of_two():
    stencil = reference("A", ((-1, 1, 0), (-1, 0, 1)), spans=(2, 2), writes=True, reach=(500, 500))
    nest = replace(product_nest(512), references=(stencil,))
    search = tile_problem(nest, SMALL, shape=None, innermost=2, level=2, parallel=(), wavefront=True, threads=2)
    found = choose_tile(search)
    assert found.order == (0, 1, 2)
    assert all(edge & (edge - 1) == 0 for edge in found.edges)


def test_nothing_is_chosen_when_nothing_fits():
    assert choose_tile(problem(product_nest(1024), capacity_bytes=64)) is None


def test_sequential_rows_are_kept_short():
    # a chain along every loop: the processor overlaps short rows, never one long row with itself
    nest = replace(product_nest(1024), operations=10)
    sequential = tile_problem(nest, SMALL, shape=None, innermost=1, level=2, parallel=(), wavefront=False, threads=1)
    free = tile_problem(replace(nest, row_independent=(True,) * 3), SMALL, shape=None, innermost=1, level=2,
                        parallel=(), wavefront=False, threads=1)
    assert choose_tile(sequential).edges[1] < choose_tile(free).edges[1]
