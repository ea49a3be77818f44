"""The data-volume model against a simulated cache, and its formulas against hand calculation."""

from collections import OrderedDict
from dataclasses import replace
from itertools import product

import pytest
import sympy

from polysched.tiling.explain import volume_formula
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.traffic import footprint_bytes, structure_of, traffic_bytes


def reference(array, coefficients, *, spans=None, writes=False, reach=None, size=8, row_dim=-1):
    rank = len(coefficients)
    return Reference(array=array, element_bytes=size, coefficients=coefficients, spans=spans or (0,) * rank,
                     reach=reach or (10 ** 6,) * rank, reads=True, writes=writes, statements=("S",), row_dim=row_dim)


C = reference("C", ((1, 0, 0), (0, 1, 0)), writes=True)
A = reference("A", ((1, 0, 0), (0, 0, 1)))
B = reference("B", ((0, 0, 1), (0, 1, 0)))


def product_nest(n):
    return Nest(loops=("i", "j", "k"), extents=(n, n, n), references=(C, A, B), parameters={})


@pytest.mark.parametrize(("ref", "edges", "expected"), [
    (A, (4, 99, 16), 4 * (16 * 8 + 56)),            # four runs of sixteen, each on one line more at most
    (reference("x", ((1,),)), (10,), 10 * 8 + 56),
    (reference("x", ((2,),)), (10,), 19 * 8 + 56),
    (reference("x", ((1,),), spans=(2,)), (10,), 12 * 8 + 56),
    (reference("x", ((1,),), reach=(5,)), (10,), 5 * 8 + 56),
    (reference("d", ((1,), (1,))), (10,), (10 * 8 + 56)),   # a diagonal: ten elements, not a hundred
    (reference("W", ((1, 0), (0, 1), (0, 0), (0, 0)), row_dim=-3), (4, 16), 4 * (16 * 8 + 56)),   # W[o][c][1][1]
])
def test_footprints(ref, edges, expected):
    assert footprint_bytes(ref, edges, 64) == expected


@pytest.mark.parametrize(("run", "rows", "pitch"), [
    (10, 6, 10), (7, 5, 10), (3, 4, 10), (3, 4, 12), (1, 9, 3), (25, 4, 26)])
def test_rows_that_follow_one_another_share_the_line_between_them(run, rows, pitch):
    """Against a count of lines, for every place of the array in its first line."""
    counts = [len({(start + row * pitch + k) // 8 for row in range(rows) for k in range(run)}) for start in range(8)]
    own = replace(reference("A", ((1, 0), (0, 1))), row_elements=pitch)
    assert footprint_bytes(own, (rows, run), 64, joined=True) == 64 * sum(counts) / len(counts)
    assert footprint_bytes(own, (rows, run), 64) == rows * (run * 8 + 56)


def test_order_decides_what_is_loaded_again():
    nest = product_nest(1024)
    tiles = (64, 64, 64)
    capacity = 3 * 64 * (64 * 8 + 56)
    by_order = {order: traffic_bytes(nest, structure_of((tiles,), (order, (0, 1, 2)), 3), capacity, 8)
                for order in ((0, 1, 2), (0, 2, 1), (2, 1, 0))}
    once, again = 1024 * 1024 * 8, 1024 * 1024 * 8 * 16
    assert by_order[0, 1, 2] == (2 * once, again, again)       # C stays while k advances
    assert by_order[0, 2, 1] == (2 * again, once, again)       # A stays while j advances
    assert by_order[2, 1, 0] == (2 * again, again, once)       # B stays while i advances


def test_everything_that_fits_is_loaded_once():
    nest = product_nest(16)
    assert traffic_bytes(nest, structure_of((), ((0, 1, 2),), 3), 1 << 20, 8) == (2 * 2048, 2048, 2048)


class LeastRecentlyUsed:
    """A fully associative cache of elements that counts what it loads."""

    def __init__(self, capacity):
        self.capacity, self.held, self.loads = capacity, OrderedDict(), 0

    def touch(self, element):
        if element in self.held:
            self.held.move_to_end(element)
            return
        self.loads += 1
        self.held[element] = None
        if len(self.held) > self.capacity:
            self.held.popitem(last=False)


@pytest.mark.parametrize(("edges", "order"), [((4, 4, 4), (0, 1, 2)), ((4, 6, 3), (0, 2, 1)), ((8, 2, 4), (2, 1, 0)),
                                              ((2, 12, 2), (1, 2, 0))])
def test_prediction_against_a_simulated_cache(edges, order):
    n, capacity = 24, 120
    cache = LeastRecentlyUsed(capacity)
    for at in product(*(range(0, n, edges[loop]) for loop in order)):
        corner = [at[order.index(loop)] for loop in range(3)]
        for i, j, k in product(*(range(c, min(n, c + e)) for c, e in zip(corner, edges, strict=True))):
            for element in (("C", i, j), ("A", i, k), ("B", k, j)):
                cache.touch(element)
    nest = product_nest(n)
    moved = traffic_bytes(nest, structure_of((edges,), (order, (0, 1, 2)), 3), capacity * 8, 8)
    predicted = (moved[0] // 2 + moved[1] + moved[2]) // 8
    assert 0.7 * cache.loads <= predicted <= 1.3 * cache.loads


def test_the_formula_is_the_textbook_one():
    nest = product_nest(1024)
    n_i, n_j, n_k, t_j = sympy.symbols("N_i N_j N_k T_j", positive=True)
    assert sympy.simplify(volume_formula(nest, A, (0, 1, 2)) - 8 * n_i * n_j * n_k / t_j) == 0
    assert sympy.simplify(volume_formula(nest, C, (0, 1, 2)) - 16 * n_i * n_j) == 0


def test_the_formula_agrees_with_the_model():
    nest = product_nest(1024)
    values = {sympy.Symbol(f"N_{x}", positive=True): 1024 for x in "ijk"} | {
        sympy.Symbol(f"T_{x}", positive=True): t for x, t in zip("ijk", (64, 32, 128), strict=True)}
    moved = traffic_bytes(nest, structure_of(((64, 32, 128),), ((0, 2, 1), (0, 1, 2)), 3), 1 << 20, 8)
    assert [int(volume_formula(nest, r, (0, 2, 1)).subs(values)) for r in nest.references] == list(moved)


@pytest.mark.parametrize("edges", [((512, 256, 128), (64, 32, 128)), ((512, 512, 1024), (64, 32, 64))])
def test_the_formula_counts_levels_around_and_loops_without_tiles(edges):
    """Edges of the extent, or of the level around, are loops without tiles there."""
    nest = product_nest(1024)
    around = (1024, 1024, 1024)
    orders, values = [], {sympy.Symbol(f"N_{x}", positive=True): 1024 for x in "ijk"}
    for level, name in zip(edges, ("T2", "T"), strict=True):
        orders.append(tuple(k for k in (0, 2, 1) if level[k] < around[k]))
        values |= {sympy.Symbol(f"{name}_{'ijk'[k]}", positive=True): level[k] for k in orders[-1]}
        around = level
    values |= {sympy.Symbol(f"T_{'ijk'[k]}", positive=True): edges[0][k] for k in range(3) if k not in orders[1]}
    moved = traffic_bytes(nest, structure_of(edges, ((0, 2, 1), (0, 2, 1), (0, 1, 2)), 3), 1 << 17, 8)
    found = [volume_formula(nest, r, orders[1], (orders[0],)).subs(values) for r in nest.references]
    assert found == list(moved)
