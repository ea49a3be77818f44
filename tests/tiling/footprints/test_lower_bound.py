"""Lower bounds against published ones, and never above what a real order moves."""

from dataclasses import replace

import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import explanations
from polysched.tiling.footprints.lower_bound import lower_bound, needed_operations
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.traffic import structure_of, traffic_bytes
from tests.tiling.footprints.test_traffic import product_nest, reference


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


TRIANGLE = """
for (int i = 0; i < 1000; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < 1000; k++) A[i][j] += B[j][k];
"""
OVER_TIME = """
for (int t = 0; t < 100; t++) for (int i = 1; i < 999; i++) for (int j = 1; j < 999; j++)
  A[i][j] = 0.5 * A[i][j - 1] + 0.5 * A[i - 1][j + 1];
"""


@pytest.mark.parametrize(("body", "elements"), [(TRIANGLE, 500_500 + 1_000_000), (OVER_TIME, 999 * 999 - 1)])
def test_every_element_that_is_touched_is_counted_whatever_the_box_of_the_loops_holds(body, elements):
    scop = from_c_text(f"""
        void f(double A[1000][1000], double B[1000][1000]) {{
        #pragma scop
        {body}
        #pragma endscop
        }}""")
    band, = explanations(tile(pluto(analyse(scop)), TilingOptions(target=Target())), Target())
    assert band.levels[-1].bound.compulsory_bytes == pytest.approx(8 * elements, rel=0.01)


@pytest.mark.parametrize(("text", "needed"), [
    ("C[i][j] += alpha * A[i][k] * B[k][j]", 2), ("C[i][j] += A[i][k] * B[k][j] * alpha", 3),
    ("C[i][j] += C[i][k] * alpha", 2), ("C[i][j] = A[i][j] * 2 + k", 1), ("C[i][j] = A[i][j] * 2", 0)])
def test_operations_that_instances_share_are_not_needed(text, needed):
    scop = from_c_text(f"""void f(int n, double alpha, double C[n][n], double A[n][n], double B[n][n]) {{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) {text};
#pragma endscop
}}""")
    assert needed_operations(scop, scop.statements[0].name) == needed
