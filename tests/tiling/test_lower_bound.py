"""Lower bounds against published ones, and never above what a real order moves."""

from dataclasses import replace

import pytest

from polysched.tiling.lower_bound import lower_bound
from polysched.tiling.nest import Nest
from polysched.tiling.traffic import structure_of, traffic_bytes
from tests.tiling.test_traffic import product_nest, reference


def counted(nest: Nest) -> Nest:
    return replace(nest, deepest=("S",))


def test_a_product_has_the_published_bound():
    # 2 N^3 / sqrt(S): A. Olivry et al., PLDI 2020, table 1
    n, fast = 1024, 4096
    bound = lower_bound(counted(product_nest(n)), fast * 8)
    assert bound.exponent == pytest.approx(1.5)
    assert bound.reuse_bytes == pytest.approx(8 * 2 * n ** 3 / fast ** 0.5)


def test_a_product_with_a_vector_has_only_compulsory_traffic():
    nest = Nest(loops=("i", "j"), extents=(100, 100), parameters={}, deepest=("S",), references=(
        reference("y", ((1, 0),), writes=True), reference("A", ((1, 0), (0, 1))), reference("x", ((0, 1),))))
    bound = lower_bound(nest, 1024)
    assert bound.reuse_bytes == 0
    assert bound.bytes == 8 * (100 * 100 + 100 + 100)


def test_a_direct_convolution_has_exponent_three_halves():
    # loops n k y x c r s: out[n,k,y,x] += in[n,c,y+r,x+s] * w[k,c,r,s]
    out = reference("out", ((1, 0, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0, 0)))
    image = reference("in", ((1, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0, 0), (0, 0, 1, 0, 0, 1, 0),
                             (0, 0, 0, 1, 0, 0, 1)))
    weight = reference("w", ((0, 1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1, 0),
                             (0, 0, 0, 0, 0, 0, 1)))
    nest = Nest(loops=tuple("nkyxcrs"), extents=(1, 64, 56, 56, 64, 3, 3), references=(out, image, weight),
                parameters={}, deepest=("S",))
    assert lower_bound(nest, 1 << 15).exponent >= 1.5


@pytest.mark.parametrize("edges", [(32, 32, 32), (64, 16, 8), (128, 128, 4), (8, 8, 512)])
@pytest.mark.parametrize("capacity", [1 << 13, 1 << 16, 1 << 20])
def test_no_order_moves_less_than_the_bound(edges, capacity):
    nest = counted(product_nest(512))
    moved = sum(traffic_bytes(nest, structure_of((edges,), ((0, 1, 2), (0, 2, 1)), 3), capacity, 8))
    assert moved >= lower_bound(nest, capacity).bytes
