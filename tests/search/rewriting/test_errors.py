"""The bound of roundings holds against exact arithmetic, and what has none is refused."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.scop.expression import axis, compute, placeholder, sqrt, symbols
from polysched.scop.expression import sum as sum_over
from polysched.search.rewriting.errors import error_bound
from tests.search.rewriting.programs import long_sum, matrix_product, run, values_of


def test_a_sum_of_products_stays_within_its_bound():
    output = long_sum(random.Random(0), "float32")
    bound = error_bound(output)
    values = values_of(output, 1)
    a, b = values["A"], values["B"]
    assert bound.roundings == a.shape[1] + 1
    exact = [[float(sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(row, column, strict=True)))
              for column in b.T] for row in a]
    most = bound.share * (np.abs(a).astype(np.float64) @ np.abs(b))
    assert np.all(np.abs(run(output, values) - np.array(exact)) <= most)
    assert np.allclose(run(bound.magnitude, values), np.abs(a) @ np.abs(b))


def test_roundings_of_stages_add_up():
    a, b, c = (placeholder(name, (4, 4)) for name in "ABC")
    assert error_bound(matrix_product(matrix_product(a, b, "T"), c, "O")).roundings == 5 + 4 + 1


a, N = placeholder("A", (8,)), symbols("N")[0]
k = axis("k")


@pytest.mark.parametrize(("output", "problem"), [
    (compute((8,), lambda i: sqrt(a[i]), name="O"), "an operation without a bound"),
    (compute((8,), lambda i: a[i] / 3, name="O"), "an operation without a bound"),
    (compute((8,), lambda i: placeholder("I", (8,), "int32")[i] + 1, name="O"), "no bound of roundings"),
    (compute((2,), lambda i: sum_over(placeholder("B", (2, N))[i, k], over=k), name="O"), "is not known")])
def test_what_has_no_bound_is_refused(output, problem):
    with pytest.raises(UsageError, match=problem):
        error_bound(output)
