"""Leading terms of the number of points."""

import islpy as isl
import pytest
import sympy

from polysched.errors import UsageError
from polysched.tiling.footprints.leading_terms import at_sizes, degree_of, is_lower, leading_term

n, m = sympy.symbols("n m", positive=True)


@pytest.mark.parametrize(("text", "expected"), [
    ("[n] -> { [i, j] : 0 <= i < n and 0 <= j < n }", n**2),
    ("[n] -> { [i, j] : 0 <= i < n and i < j < n }", n**2 / 2),
    ("[n] -> { [i, j, k] : 0 <= i < n and i < j < n and j < k < n }", n**3 / 6),
    ("[n, m] -> { [i, j] : 3 <= i < n - 2 and 0 <= j < m }", n * m),
    ("[n] -> { [i, j] : 0 <= i < n and j = i }", n),
    ("[n] -> { [i] : 0 <= i < n and i mod 2 = 0 }", n / 2),
    ("[n, m] -> { [i] : 0 <= i < n }", n),
    ("{ [i] : 0 <= i < 5 }", sympy.Integer(5)),
    ("[n] -> { [i] : false }", sympy.Integer(0)),
])
def test_leading_term(text, expected):
    assert leading_term(isl.Set(text)) == expected


def test_no_polynomial_is_refused():
    with pytest.raises(UsageError, match="no polynomial"):
        leading_term(isl.Set("[n] -> { [i] : 0 <= 7i < n }"))


def test_the_smaller_of_two_sizes_is_refused():
    with pytest.raises(UsageError, match="no polynomial"):
        leading_term(isl.Set("[n, m] -> { [i] : 0 <= i < n and i < m }"))


def test_lower():
    plane = isl.Set("[n] -> { [i, j] : 0 <= i < n and 0 <= j < 3 }")
    assert is_lower(plane, 2)
    assert not is_lower(plane, 1)
    assert not is_lower(isl.Set("[n] -> { [i] : 0 <= 7i < n }"), 1)


def test_at_sizes():
    assert at_sizes(isl.Set("[n] -> { [i] : 0 <= i < n }"), 4).is_equal(isl.Set("{ [i] : 0 <= i < 4 }"))


@pytest.mark.parametrize(("text", "degree"), [
    ("[n] -> { [i, j] : 0 <= i < n and 0 <= j < 3 }", 1), ("[n] -> { [i, j] : 0 <= i < n and i < j < n }", 2),
    ("{ [i] : 0 <= i < 3 }", 0), ("{ [i] : false }", -1)])
def test_degree(text, degree):
    assert degree_of(isl.Set(text)) == degree
