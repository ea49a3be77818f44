"""The coarse cost of an order: unit strides beat columns, independent rows beat chains, guards and loops cost."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scheduling.tree.loop_tree import Band, Filter, Leaf, Node, Sequence
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tiling.footprints.cost import order_cost
from polysched.tiling.tree.position import top
from tests.scop_builder import build_scop
from tests.tiling import kernels
from tests.tiling.planning.test_tile_search import SMALL


def band(child: Node, *functions: str) -> Band:
    members = tuple(isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {f} }}") for f in functions)
    return Band(members=members, child=child, permutable=True, coincident=(False,) * len(members), mark=None)


def cost(scop: Scop, node: Node) -> float:
    return order_cost(scop, top(analyse(scop), scop.domain), node, SMALL)


def product_order(*order: str) -> float:
    return cost(kernels.product(), band(Leaf(), *(f"S[i, j, k] -> [({name})]" for name in order)))


def test_orders_of_a_product_rank_by_strides() -> None:
    """C[i][j] += A[i][k] * B[k][j]: along j all have unit stride or stay, along i two of three are columns."""
    best, middle, worst = product_order("i", "k", "j"), product_order("i", "j", "k"), product_order("j", "k", "i")
    assert best < middle < worst
    assert product_order("k", "i", "j") == pytest.approx(best), "only the innermost loop counts"


def test_one_band_or_several_cost_the_same() -> None:
    scop = kernels.product()
    split = band(band(Leaf(), "S[i, j, k] -> [(k)]", "S[i, j, k] -> [(j)]"), "S[i, j, k] -> [(i)]")
    assert cost(scop, split) == pytest.approx(product_order("i", "k", "j"))


def two(first: str, second: str) -> Scop:
    return build_scop([("S", f"{{ S[i] : {first} }}", ["{ S[i] -> x[i] }"], ["{ S[i] -> y[i] }"]),
                       ("T", f"{{ T[i] : {second} }}", ["{ T[i] -> y[i] }"], ["{ T[i] -> z[i] }"])],
                      "{ S[i] -> [i, 0]; T[i] -> [i, 1] }")


def fused(scop: Scop) -> float:
    keep = [isl.UnionSet.from_set(s.domain) for s in scop.statements]
    return cost(scop, band(Sequence(branches=tuple((k, Leaf()) for k in keep)), "S[i] -> [(i)]; T[i] -> [(i)]"))


def apart(scop: Scop) -> float:
    keep = [isl.UnionSet.from_set(s.domain) for s in scop.statements]
    return cost(scop, Sequence(branches=tuple(
        (k, band(Leaf(), f"{s.name}[i] -> [(i)]")) for k, s in zip(keep, scop.statements, strict=True))))


def test_statements_of_other_ranges_need_guards() -> None:
    alike, unlike = two("0 <= i < N", "0 <= i < N"), two("0 <= i < N", "1 <= i < N")
    assert fused(alike) < apart(alike), "one loop less"
    assert fused(unlike) > fused(alike)


def test_leaves_and_filters_cost_nothing_of_their_own() -> None:
    scop = kernels.copy()
    loop = band(Leaf(), "S[i] -> [(i)]")
    assert cost(scop, Leaf()) == 0.0
    assert cost(scop, Filter(keep=scop.domain, child=loop)) == cost(scop, loop)


def test_members_of_one_struct_move_its_lines_once_in_a_loop() -> None:
    scop = from_c_text("""struct point { double x, y; };
void f(int n, struct point p[restrict n], double d[restrict n]) {
#pragma scop
  for (int i = 1; i < n; i++) { p[i].x = p[i - 1].x + d[i]; p[i].y = 2 * d[i]; }
#pragma endscop
}
""")
    rooms = {name: isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {name}[i] }}") for name in ("S0", "S1")}
    both = Sequence(branches=tuple((keep, Leaf()) for keep in rooms.values()))
    together = cost(scop, band(both, "S0[i] -> [(i)]; S1[i] -> [(i)]"))
    apart = cost(scop, Sequence(branches=tuple(
        (keep, band(Leaf(), f"{name}[i] -> [(i)]")) for name, keep in rooms.items())))
    assert together < apart
