"""Sizes that keep every access inside its array, and refusals that name an access and an element."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.measure.programs.bounds import check_sizes, extents_at, index_box, stray_accesses, valid_sizes
from polysched.scop import from_c_text
from polysched.scop.scop import Scop


def program(extent: str = "n", reach: str = "i + 1", first: str = "0") -> Scop:
    return from_c_text(f"void f(int n, double x[{extent}], double *y) {{\n#pragma scop\n  for (int i = {first}; i < n; "
                       f"i++)\n    y[i] = x[{reach}];\n#pragma endscop\n}}\n")


def fixed(extent: int) -> Scop:
    return program(str(extent), "i")


def test_an_access_that_leaves_an_array_of_constant_extent() -> None:
    scop = fixed(100)
    if not stray_accesses(scop):   # the front end may have assumed that it does not
        assert scop.context.is_subset(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n <= 100 }"))
        return
    (stray,) = stray_accesses(scop)
    assert stray.array.name == "x"
    assert valid_sizes(scop, (stray,)).is_subset(isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n <= 100 }"))


def test_sizes_that_the_region_contradicts() -> None:
    scop = fixed(100)
    with pytest.raises(UsageError, match=r"sizes that n=101 contradict|leaves the array x"):
        check_sizes(scop, {"n": 101}, stray_accesses(scop))
    check_sizes(scop, {"n": 100}, stray_accesses(scop))


def test_programs_inside_their_arrays_have_no_stray_access() -> None:
    scop = program("n", "i")
    assert stray_accesses(scop) == ()
    assert valid_sizes(scop, ()).is_equal(scop.context)


def test_the_box_of_an_array() -> None:
    scop = program("n", "i")
    space = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { x[i] }").get_space()
    expected = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { x[i] : 0 <= i < n }")
    assert index_box(scop.array("x"), space).is_equal(expected)
    unbounded = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { y[i] }").get_space()
    assert index_box(scop.array("y"), unbounded).is_equal(
        isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { y[i] : i >= 0 }"))


@pytest.mark.parametrize("n", [1, 7, 100])
def test_an_extent_that_nobody_declared_is_as_long_as_subscripts_reach(n: int) -> None:
    scop = program("n", "i")
    assert extents_at(scop, scop.array("y"), {"n": n}) == (n,)
    assert extents_at(scop, scop.array("x"), {"n": n}) == (n,)


@pytest.mark.parametrize(("call", "largest"), [("set(n, x)", 100), ("set(n, x + 40)", 60), ("set(n, &x[99])", 1)])
def test_what_functions_reach_stays_inside(call: str, largest: int) -> None:
    scop = from_c_text("void set(int n, double *x);\n#pragma polysched effects set(n, x) writes x[0:n]\n"
                       f"void f(int n, double x[100]) {{\n#pragma scop\n  {call};\n#pragma endscop\n}}\n")
    check_sizes(scop, {"n": largest}, stray_accesses(scop))
    with pytest.raises(UsageError, match=r"contradict|leaves the array x"):
        check_sizes(scop, {"n": largest + 1}, stray_accesses(scop))


def test_what_functions_reach_anywhere_is_not_judged() -> None:
    scop = from_c_text("void set(int n, double *x);\n#pragma polysched effects set(n, x) writes x[0:n * n]\n"
                       "void f(int n, double *x) {\n#pragma scop\n  set(n, x);\n#pragma endscop\n}\n")
    assert not stray_accesses(scop)
