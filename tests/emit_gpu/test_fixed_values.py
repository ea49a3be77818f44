"""Instances at one value, and bounds of values."""

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.index import constant, variable, variables
from polysched.emit_gpu.fixed_values import bounds, host_instances, launched_at, within_values
from polysched.gpu.instances import fixed, image_of
from tests.gpu.mapped import STENCIL, mapped

DOMAIN = isl.UnionSet("[n] -> { S[i, j] : 0 <= i < n and 0 <= j < i }")
MEMBER = isl.UnionPwAff("{ S[i, j] -> [(i + j)] }")


def test_a_function_equals_a_parameter() -> None:
    expected = isl.UnionSet("[n, x] -> { S[i, j] : 0 <= i < n and 0 <= j < i and i + j = x }")
    assert fixed(DOMAIN, {"x": MEMBER}).is_equal(expected)


def test_values_of_a_function() -> None:
    assert image_of(DOMAIN, MEMBER).is_equal(isl.Set("[n] -> { [x] : 1 <= x <= 2n - 3 }"))


@pytest.mark.parametrize(("values", "first", "end"), [
    ("[n] -> { [x] : 1 <= x < n }", constant(1), variable("n")),
    ("[n] -> { [x] : x = n }", variable("n"), variable("n") + 1),
    ("[n] -> { [x] : -x = n - 5 }", variable("n") * -1 + 5, variable("n") * -1 + 6)])
def test_bounds(values: str, first: object, end: object) -> None:
    assert bounds(isl.Set(values)) == (first, end)


def test_a_hull_without_or_with_other_ends_is_not_taken() -> None:
    _, several = bounds(isl.Set("[n, m] -> { [x] : 0 <= x < n or 0 <= x < m }"))
    _, smaller = bounds(isl.Set("[n] -> { [x] : 0 <= x < n <= 100 or (x = 50 and n > 100) }"))
    assert variables(several) == {"n", "m"}
    assert variables(smaller) == {"n"}


def test_launches_of_a_host_loop() -> None:
    mapping = mapped(STENCIL)
    found = host_instances(mapping.launches[0], mapping.scop.context.params())
    assert found.is_subset(isl.Set("[t, n] -> { kernel0[s] : 0 <= s < t }"))


HOLES = """void f(int n, float A[n], float B[n]) {
#pragma scop
  for (int t = 0; t < n; t++) {
    if (t != 3)
      for (int i = 1; i < n; i++) B[i] = B[i] - A[i - 1];
    for (int i = 0; i < n; i++) A[i] = A[i] + B[t];
  }
#pragma endscop
}
"""


def test_a_launch_without_instances_is_among_those_that_a_kernel_knows() -> None:
    mapping = mapped(HOLES)
    context = mapping.scop.context.params()
    known = [launched_at(launch, ("step",), context) for launch in mapping.launches]
    assert all(isl.Set("[n, step] -> { : step = 3 and n = 9 }").is_subset(own) for own in known)
    outside = [fixed(launch.domain, {"step": launch.host[0]}) for launch in mapping.launches]
    places = [within_values(launch, ("x",), own, inside) for launch, own, inside in zip(
        mapping.launches, known, outside, strict=True)]
    assert places[0].is_equal(known[0])   # nobody knows where work items are at step 3
    assert places[1].is_equal(known[1].intersect(isl.Set("[n, x] -> { : x >= 0 and n >= 1 }")))


def test_places_of_blocks_of_a_known_number_of_values() -> None:
    text = ("void f(float A[20]) {\n#pragma scop\n  for (int i = 1; i < 20; i++) A[i] = 2 * A[i];\n"
            "#pragma endscop\n}\n")
    (launch,) = mapped(text).launches
    known = within_values(launch, ("x",), isl.Set("{ : }"), launch.domain, (8,))
    assert known.is_equal(isl.Set("[x] -> { : x = 1 or x = 9 or x = 17 }"))


def test_places_of_blocks_of_a_triangle_begin_anywhere() -> None:
    runs = isl.Set("[step] -> { : 0 <= step < 32 }")
    (launch,) = mapped("void f(float A[33]) {\n#pragma scop\n  for (int i = 1; i < 33; i++) A[i] = 2 * A[i];\n"
                       "#pragma endscop\n}\n").launches
    outside = launch.domain.intersect(isl.UnionSet("[step] -> { S0[i] : step < i }"))
    known = within_values(launch, ("x",), runs, outside, (16,))
    assert isl.Set("[step, x] -> { : 0 <= step < 32 and step < x <= 32 }").is_subset(known)
