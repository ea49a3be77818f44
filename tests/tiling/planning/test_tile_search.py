"""The integer search against exhaustive enumeration, and its constraints."""

from dataclasses import replace
from itertools import product

import pytest

from polysched.target.newest import Newest
from polysched.target.target import CacheLevel, Target
from polysched.tiling.footprints.balance import uneven_share
from polysched.tiling.footprints.conflicts import most_rows
from polysched.tiling.footprints.traffic import structure_of, traffic_bytes, working_set_bytes
from polysched.tiling.planning import tile_search
from polysched.tiling.planning.register_shape import register_shapes
from polysched.tiling.planning.tile_problem import candidate_edges, tile_problem
from polysched.tiling.planning.tile_search import _solve as solve
from polysched.tiling.planning.tile_search import choose_tile, least_cost
from tests.tiling.footprints.test_traffic import product_nest, reference

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


def test_panels_that_stream_into_a_block_need_no_room_in_the_first_cache():
    nest = product_nest(1024)
    shape = next(s for s in register_shapes(nest, "S", SMALL) if s.row_count == 5)
    search = replace(tile_problem(nest, SMALL, shape=shape, innermost=1, level=2, parallel=(0,), wavefront=False,
                                  threads=2), streams=True, panel_bytes=1024)
    kept, streamed = (
        shape.row_count * (choose_tile(replace(search, streams_both=both)).edges[2] + shape.column_count) for both in (
            False, True))
    assert kept * nest.element_bytes <= search.panel_bytes < streamed * nest.element_bytes


def test_a_panel_that_a_tile_fills_stands_beside_what_it_is_filled_from():
    nest = product_nest(1024)
    shape = register_shapes(nest, "S", SMALL)[0]
    search = tile_problem(nest, SMALL, shape=shape, innermost=1, level=2, parallel=(), wavefront=False, threads=1)
    rows, columns, steps = choose_tile(search).edges
    size = nest.element_bytes
    assert size * (rows * columns + 2 * rows * steps + 2 * steps * columns) <= search.capacity_bytes
    assert search.capacity_bytes < 2 * size * (rows * columns + 2 * rows * steps + 2 * steps * columns)


def test_sums_that_a_tile_finishes_are_not_moved_where_their_array_is_temporary():
    nest = product_nest(1024)
    shape = register_shapes(nest, "S", SMALL)[0]
    kept = replace(nest, references=tuple(replace(r, temporary=r.writes) for r in nest.references))
    (loop,) = shape.inner
    costs = []
    for given in (nest, kept):
        search = replace(tile_problem(given, SMALL, shape=shape, innermost=1, level=2, parallel=(), wavefront=False,
                                      threads=1), orders=((0, 1, loop),), row_lines=lambda edge: 0.0)
        costs.append(choose_tile(search).cost_lines)
    written = 2 * 1024 * 1024 * nest.element_bytes // 64
    assert costs[0] - written * 1.2 <= costs[1] <= costs[0] - written


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


def test_rows_a_power_of_two_apart_share_sets_and_bound_the_tile():
    cache = CacheLevel(level=2, size_bytes=64 << 10, ways=8)
    target = replace(SMALL, caches=(SMALL.caches[0], cache))
    nest = product_nest(1024)
    far = replace(nest, references=tuple(replace(r, row_elements=1024) for r in nest.references))
    (written,) = (r for r in far.references if r.writes)
    assert most_rows(written, cache) == 8192 // (1024 * written.element_bytes) * 4
    assert most_rows(replace(written, row_elements=1023), cache) > 1000
    assert most_rows(replace(written, row_elements=0), cache) is None
    edges = []
    for given in (nest, far):
        shape = register_shapes(given, "S", target)[0]
        search = tile_problem(given, target, shape=shape, innermost=1, level=2, parallel=(0,), wavefront=False,
                              threads=2)
        found = choose_tile(search)
        edges.append(found.edges[0])
    assert edges[1] <= max(most_rows(written, cache), shape.row_count) < edges[0]
    assert "sets of the tile's cache for rows of C" in found.binding


@pytest.mark.parametrize(("ways", "least"), [(8, 30), (16, 48), (1, 0)])
def test_tiles_have_as_many_rows_as_share_the_sets(ways, least):
    """Eight blocks of six rows, so that packed columns are read that often, or as many as there is room for."""
    target = replace(SMALL, caches=(CacheLevel(level=1, size_bytes=32 << 10, ways=8),
                                    CacheLevel(level=2, size_bytes=ways << 17, ways=ways)))
    nest = product_nest(1024)
    nest = replace(nest, references=tuple(replace(r, row_elements=(16 << 10) // r.element_bytes)
                                          for r in nest.references))
    shape = next(s for s in register_shapes(nest, "S", target) if s.row_count == 6)
    search = tile_problem(nest, target, shape=shape, innermost=1, level=2, parallel=(0,), wavefront=False, threads=2)
    assert search.streams
    (written,) = (r for r in nest.references if r.writes)
    assert most_rows(written, target.caches[1]) == 4 * ways
    assert min(edge for edge, _ in candidate_edges(search, shape.rows, (0, 1, 2))) == max(least, 6)


@pytest.mark.parametrize(("extent", "edge", "threads", "share"), [
    (512, 64, 2, 0), (512, 96, 2, 288 / 512 - 1 / 2), (1024, 120, 2, 544 / 1024 - 1 / 2), (100, 100, 4, 3 / 4)])
def test_the_busiest_thread_is_counted(extent, edge, threads, share):
    assert uneven_share(extent, edge, threads) == pytest.approx(share)


@pytest.mark.parametrize("size", [24, 96, 512])
def test_no_order_moves_less_than_the_least(size):
    search = problem(product_nest(size))
    costs = [found.cost_lines for order in search.orders if (found := choose_tile(replace(search, orders=(order,))))]
    assert least_cost(search) <= min(costs) == choose_tile(search).cost_lines
    assert least_cost(replace(search, shape=register_shapes(search.nest, "S", SMALL)[0])) == 0


def test_other_orders_are_not_tried_where_nothing_is_left_to_save(monkeypatch):
    tried = []
    monkeypatch.setattr(tile_search, "_solve", lambda problem, order, bound: tried.append(order) or solve(
        problem, order, bound))
    small = problem(product_nest(24), capacity_bytes=1 << 20)
    assert choose_tile(small).cost_lines == least_cost(small)
    assert len(tried) == 1 < len(small.orders)


def test_a_search_is_made_once_for_many_codes(monkeypatch):
    made = []
    monkeypatch.setattr(tile_search, "_FOUND", Newest(tile_search.LIMITS.kept_searches))
    plain = tile_search._solved
    monkeypatch.setattr(tile_search, "_solved", lambda *given: made.append(1) or plain(*given))
    first, again = (choose_tile(problem(product_nest(100))) for _ in range(2))
    assert first == again
    assert first is not None
    count = len(made)
    assert count > 0
    other = choose_tile(problem(product_nest(100), capacity_bytes=3 << 10))
    assert len(made) > count
    assert other != first
    count = len(made)
    assert choose_tile(problem(product_nest(100))) == first
    assert len(made) == count, "both are kept"


def test_a_loop_of_more_iterations_than_the_solver_has_numbers_stays_untiled():
    assert choose_tile(problem(product_nest(1 << 80))) is None
