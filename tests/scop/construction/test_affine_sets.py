"""Ranges, elements and extents as isl sets, and affine functions as expressions."""

import islpy as isl
import pytest

from polysched.scop.body import Binary, Expr, IteratorRef, Literal, ParameterRef, Unary
from polysched.scop.construction import values
from polysched.scop.construction.affine_sets import affine_of, element_set, extent_box, linear_expression, range_set
from polysched.scop.dtypes import FLOAT64, INT64
from polysched.scop.scop import Array

REFERENCES = {"i": IteratorRef("i", INT64), "n": ParameterRef("n", INT64)}


def spelled(expr: Expr) -> str:
    match expr:
        case Literal():
            return expr.text
        case IteratorRef() | ParameterRef():
            return expr.name
        case Unary(op=op, operand=operand):
            return f"{op}({spelled(operand)})"
        case Binary():
            return f"{spelled(expr.left)} {expr.op} {spelled(expr.right)}"
    raise TypeError(expr)


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 10, 1), (3, 17, 4), (10, -1, -1), (9, -5, -4), (5, 5, 1)])
def test_ranges_are_pythons(start: int, stop: int, step: int) -> None:
    found = range_set(values.iterator("i", "i"), values.number(start), values.number(stop), step)
    wanted = isl.Set("[i] -> { : 1 = 0 }")
    for i in range(start, stop, step):
        wanted = wanted.union(isl.Set(f"[i] -> {{ : i = {i} }}"))
    assert found.is_equal(wanted)


def test_elements_of_unknown_subscripts_may_be_any() -> None:
    found = element_set("A", [isl.PwAff("[i] -> { [(2i)] }"), None])
    assert found.is_equal(isl.Set("[i] -> { A[x, y] : x = 2i }"))


def test_an_extent_that_is_unknown_bounds_from_below_only() -> None:
    array = Array(name="A", dtype=FLOAT64, extents=(None, isl.PwAff("[n] -> { [(n + 1)] }")))
    assert extent_box(array).is_equal(isl.Set("[n] -> { A[x, y] : 0 <= x and 0 <= y <= n }"))
    assert extent_box(array, (0,)).is_equal(isl.Set("{ A[x, y] : 0 <= x }"))
    assert extent_box(array, ()).is_equal(isl.Set("{ A[x, y] }"))


@pytest.mark.parametrize(("affine", "text"), [
    ("[i, n] -> { [(n - i)] }", "n - i"), ("[i] -> { [(-2i)] }", "-(2 * i)"), ("{ [(5)] }", "5"),
    ("[i] -> { [(i - 3)] }", "i - 3"), ("[n, i] -> { [(2n + i + 1)] }", "i + 2 * n + 1")])
def test_linear_expressions_begin_with_what_is_positive(affine: str, text: str) -> None:
    found = linear_expression(isl.PwAff(affine), REFERENCES)
    assert found is not None
    assert spelled(found) == text


@pytest.mark.parametrize("affine", ["[i] -> { [(floor((i)/2))] }", "[i, n] -> { [(i)] : i < n; [(n)] : i >= n }"])
def test_quotients_and_cases_have_no_linear_expression(affine: str) -> None:
    assert linear_expression(isl.PwAff(affine), REFERENCES) is None


def test_a_value_without_an_affine_form_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="not affine"):
        affine_of(values.number(1.5))
