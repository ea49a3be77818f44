"""What the models know about a band, counted beside it point by point."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, points_of
from polysched.tiling.footprints import nest as nests
from polysched.tiling.footprints.nest import Nest, nest_of
from polysched.tiling.tree.position import top
from tests.tiling import kernels


def function(text: str) -> isl.UnionPwAff:
    return isl.UnionPwAff.read_from_str(isl.DEFAULT_CONTEXT, f"{{ {text} }}")


def domain(text: str) -> isl.UnionSet:
    return isl.UnionSet(text)


def of(scop: object, *functions: str, **parameters: int) -> Nest:
    dependences = analyse(scop)
    members = tuple(function("; ".join(f"{s.name}[{', '.join(s.iterators)}] -> [({f})]" for s in scop.statements))
                    for f in functions)
    return nest_of(scop, top(dependences, scop.domain), members, parameters)


PRODUCT = kernels.product()
TRIANGLE = from_c_text("""void f(int n, double A[n][n], double x[n]) {
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) x[i] += A[i][j] * 2.0 - x[j];
#pragma endscop
}""")


def test_a_box_is_filled_and_every_loop_is_free() -> None:
    found = of(PRODUCT, "i", "j", "k", N=5)
    assert (found.extents, found.density, found.depth, found.instances) == ((5, 5, 5), 1.0, 3, 125)
    assert found.is_box
    assert found.is_straight(0, 1, 2)
    assert found.row_independent == (True, True, False)
    assert found.loops == ("i", "j", "k")
    assert found.constant == (False,) * 3


def test_a_triangle_fills_half_of_its_box() -> None:
    found = of(TRIANGLE, "i", "j", n=10)
    assert found.density == pytest.approx(55 / 100)
    assert not found.is_box
    assert found.free == (False, False)
    assert not found.is_straight(0)
    assert (found.operations, found.instructions) == (3, 2), "x + (A * 2 - x): a product is part of its difference"


def test_loops_at_an_angle() -> None:
    found = of(PRODUCT, "i", "i + j", "k", N=6)
    assert found.extents == (6, 11, 6)
    assert found.density == pytest.approx(36 / 66)
    assert found.free == (False, False, True)
    assert found.is_straight(2)


@pytest.mark.parametrize(("text", "value", "extent"), [
    ("{ S[i] : 3 <= i <= 9 }", "S[i] -> [(i)]", 7), ("{ S[i] : 3 <= i <= 9 }", "S[i] -> [(2i)]", 13),
    ("{ S[i] : 0 <= i < 40 }", "S[i] -> [(floor(i/8))]", 5), ("{ S[i] : i > 3 and i < 2 }", "S[i] -> [(i)]", 1),
    ("{ S[i] : 0 <= i < 4; T[i] : 10 <= i < 12 }", "S[i] -> [(i)]; T[i] -> [(i)]", 12)])
def test_extents_reach_from_the_least_to_the_largest_value(text: str, value: str, extent: int) -> None:
    assert nests.extent_along(domain(text), function(value), {}) == extent


@pytest.mark.parametrize(("text", "functions"), [
    ("{ S[i, j] : 0 <= i < 4 and 0 <= j < 3 }", ("i", "j")), ("{ S[i, j] : 0 <= i < 4 and 0 <= j <= i }", ("i", "j")),
    ("{ S[i, j] : 0 <= i < 4 and 0 <= j < 3 }", ("i", "i + j")),
    ("{ S[i, j] : 0 <= i < 4 and 0 <= j < 3 }", ("j", "i")),
    ("{ S[i, j] : 0 <= i < 8 and 0 <= j < 3 }", ("floor(i/3)", "i", "j")),
    ("{ S[i, j] : i = 2 and j = 7 }", ("i", "j")),
    ("{ S[i, j] : 0 <= i < 4 and 0 <= j < 3 and (i + j) mod 2 = 0 }", ("i", "j"))])
def test_free_loops_by_counting(text: str, functions: tuple[str, ...]) -> None:
    path = tuple(function(f"S[i, j] -> [({f})]") for f in functions)
    place = isl.Map.from_union_map(isl.UnionMap(f"{{ S[i, j] -> [{', '.join(functions)}] }}").intersect_domain(
        domain(text))).range()
    values = {tuple(p) for p in points_of(place)}
    expected = tuple(
        {(*v[:k], w[k], *v[k + 1:]) for v in values for w in values} == values for k in range(len(functions)))
    assert nests.free_loops(domain(text), path, len(path)) == expected


def test_the_parameters_of_a_loop() -> None:
    triangle = domain("[n, m] -> { S[i, j] : 0 <= i < n and i <= j < i + 3; T[i, j] : 0 <= i < m and j = 0 }")
    assert nests.sizes_of(triangle, function("S[i, j] -> [(i)]; T[i, j] -> [(j)]")) == {"n", "m"}
    assert nests.sizes_of(triangle, function("T[i, j] -> [(j)]"), where_it_runs=True) == set()
    assert nests.sizes_of(triangle, function("S[i, j] -> [(j - i)]"), where_it_runs=True) == set()


@pytest.mark.parametrize(("context", "given", "expected"), [
    ("{ : }", {}, None), ("{ : N >= 3 }", {"N": 7}, 7), ("{ : N <= 9 }", {}, 9),
    ("{ : N mod 8 = 0 and N <= 50 }", {}, 48),
    ("{ : N >= 5000 }", {}, 5000), ("{ : N <= 9 }", {"N": 40}, 9)])
def test_assumed_parameters_are_allowed_ones(context: str, given: dict[str, int], expected: int | None) -> None:
    scop = replace(PRODUCT, context=isl.Set(f"[N] -> {context}").params().align_params(PRODUCT.context.get_space()))
    values = nests.assumed_parameters(scop, given)
    assert not fix_parameters(scop.context, values).is_empty()
    assert expected is None or values["N"] == expected
