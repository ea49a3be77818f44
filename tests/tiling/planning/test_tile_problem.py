"""What a search may choose: edges are whole granules that cover the loop, orders differ in reuse, threads stay busy."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest

from polysched.tiling.footprints.balance import idle_share
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.planning import tile_problem as problems
from polysched.tiling.planning.register_shape import register_shapes
from polysched.tiling.planning.tile_problem import TileProblem, candidate_edges
from tests.tiling.footprints.test_traffic import product_nest, reference
from tests.tiling.planning.test_tile_search import SMALL


def problem(n: int = 1000, *, parallel: tuple[int, ...] = (), wavefront: bool = False, threads: int = 1,
            block: bool = False, nest: Nest | None = None) -> TileProblem:
    nest = nest or product_nest(n)
    shape = register_shapes(nest, "S", SMALL)[0] if block else None
    return problems.tile_problem(nest, SMALL, shape=shape, innermost=1, level=2, parallel=parallel, wavefront=wavefront,
                                 threads=threads)


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize("n", [7, 8, 9, 100, 1000])
def test_edges_are_whole_granules_and_tiles_cover_the_loop(n: int, block: bool) -> None:
    made = problem(n, block=block)
    for loop in range(3):
        pairs = candidate_edges(made, loop, made.orders[0])
        assert pairs
        for edge, count in pairs:
            assert edge % made.granules[loop] == 0
            assert (count - 1) * edge < n <= count * edge


def test_a_tile_may_be_as_large_as_the_loop() -> None:
    made = problem(100)
    assert (100, 1) in candidate_edges(made, 0, made.orders[0])


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_loop_for_the_threads_keeps_them_busy(threads: int) -> None:
    made = problem(1000, parallel=(0,), threads=threads)
    for order in made.orders:
        assert order[0] == 0
        for _, count in candidate_edges(made, 0, order):
            assert count >= threads
            assert idle_share(count, threads) <= problems.MOST_IDLE
    short = problem(4, parallel=(0,), threads=8)
    assert len(candidate_edges(short, 0, (0, 1, 2))) == 1, "too short a loop has as many tiles as it can"


def test_orders_that_reuse_the_same_are_one() -> None:
    made = problem()
    assert set(made.orders) <= set(permutations(range(3)))
    assert made.orders[0] == (0, 1, 2), "the order of the loops comes first"
    kept = [tuple(problems._reuse(r, order) for r in made.nest.references) for order in made.orders]
    assert len(set(kept)) == len(kept)
    everything = {tuple(problems._reuse(r, order) for r in made.nest.references) for order in permutations(range(3))}
    assert set(kept) == everything


def test_loops_that_are_not_cut_have_one_edge() -> None:
    whole = problems.tile_problem(product_nest(1000), SMALL, shape=None, innermost=1, level=2, parallel=(),
                                  wavefront=False, threads=1, whole=frozenset({2}))
    assert candidate_edges(whole, 2, whole.orders[0]) == [(1000, 1)]


def test_skewed_loops_have_edges_that_divide_each_other() -> None:
    skewed = reference("A", ((1, 1, 0), (0, 1, 0)), writes=True)
    nest = Nest(loops=("t", "i", "k"), extents=(100, 300, 9), references=(skewed,), parameters={})
    assert problems.is_skewed(nest)
    made = problem(nest=nest)
    assert made.orders == ((0, 1, 2),)
    for loop in range(3):
        edges = [edge for edge, _ in candidate_edges(made, loop, (0, 1, 2))]
        assert all(b % a == 0 for a, b in pairwise(edges))


@pytest.mark.parametrize(("coefficients", "skewed", "moves"), [
    (((1, 0), (0, 1)), False, False), (((1, 1),), False, True), (((1, 0), (1, 0)), True, False),
    (((1, 1), (0, 1)), True, True)])
def test_tiles_move_on_over_a_line_without_being_skewed(
        coefficients: tuple[tuple[int, ...], ...], skewed: bool, moves: bool) -> None:
    nest = Nest(loops=("t", "i"), extents=(100, 300), references=(reference("A", coefficients),), parameters={})
    assert (problems.is_skewed(nest), problems.moves_on(nest)) == (skewed, moves)


def test_a_wavefront_has_enough_tiles_on_its_sides() -> None:
    made = problem(1000, parallel=(0,), wavefront=True, threads=4)
    for loop in (0, 1):
        assert all(count >= 8 for _, count in candidate_edges(made, loop, (0, 1, 2)))


@pytest.mark.parametrize(("coefficients", "reach", "extents", "side"), [
    (((1, 0),), (50,), (80, 9), 50), (((2, 0),), (51,), (80, 9), 26), (((0, 1),), (9,), (80, 9), 80),
    (((1, 0), (1, 1)), (30, 70), (80, 9), 70)])
def test_the_side_of_a_loop(coefficients: tuple[tuple[int, ...], ...], reach: tuple[int, ...],
                            extents: tuple[int, ...], side: int) -> None:
    moved = reference("A", coefficients, reach=reach)
    nest = Nest(loops=("i", "j"), extents=extents, references=(moved,), parameters={})
    assert problems.unskewed_extent(nest, 0) == side


def test_rows_in_a_chain_wait_and_independent_ones_do_not() -> None:
    nest = product_nest(100)
    assert problems.waiting_cycles(replace(nest, row_independent=(True,) * 3), 1, 64, SMALL) == 0.0
    waits = [problems.waiting_cycles(nest, 1, edge, SMALL) for edge in (4, 64, 1024)]
    assert waits == sorted(waits)
    together = replace(nest, row_lags=(None, 2, None))
    assert problems.waiting_cycles(together, 1, 1024, SMALL) < waits[-1]
    assert problems.row_cycles(nest, None, 1, 8, SMALL) > problems.row_cycles(nest, None, 1, 1024, SMALL) - waits[-1]


def test_the_innermost_loop_has_unit_strides() -> None:
    assert problems.innermost_choice(product_nest(9)) == 1
    assert not problems.has_columns(product_nest(9))
    columns = Nest(loops=("i", "j"), extents=(9, 9), parameters={}, references=(
        reference("A", ((1, 0), (0, 1)), writes=True), reference("B", ((0, 1), (1, 0)))))
    assert problems.has_columns(columns)
