"""Reductions, conditions and functions of the language, run against NumPy."""

from collections.abc import Callable

import numpy as np
import pytest

from polysched.scop.expression import compute
from polysched.scop.expression import functions as f
from polysched.scop.expression.tensors import axis, placeholder
from tests.scop.expression.running import random, run

RNG = np.random.default_rng(20261126)
X, Y = random(RNG, (5, 7)), random(RNG, (5, 7))
A, B = placeholder("A", (5, 7)), placeholder("B", (5, 7))
K, L = axis("k", 7), axis("l", 5)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin"])
def test_reductions_over_one_axis(name: str) -> None:
    found = run(compute((5,), lambda i: getattr(f, name)(A[i, K], over=K), name="C"), {"A": X})
    np.testing.assert_allclose(found, getattr(np, name)(X, axis=1), rtol=2e-6)


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "argmin"])
def test_reductions_over_two_axes(name: str) -> None:
    found = run(compute((1,), lambda i: getattr(f, name)(A[L, K], over=(L, K)), name="C"), {"A": X})
    np.testing.assert_allclose(found, [getattr(np, name)(X)], rtol=2e-6)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_nan_is_passed_over_or_propagated(name: str) -> None:
    data = X.copy()
    data[1, 3] = data[2, 0] = data[3, 6] = data[3, 2] = np.nan

    def found(*, propagate_nan: bool) -> np.ndarray:
        return run(compute((5,), lambda i: getattr(f, name)(A[i, K], over=K, propagate_nan=propagate_nan), name="C"),
                   {"A": data})
    np.testing.assert_allclose(found(propagate_nan=True), getattr(np, name)(data, axis=1), rtol=2e-6)
    np.testing.assert_allclose(found(propagate_nan=False), getattr(np, f"nan{name}")(data, axis=1), rtol=2e-6)


def test_a_sum_in_another_type() -> None:
    data, bytes_ = np.full((5, 7), 100, "int8"), placeholder("A", (5, 7), "int8")
    wide = run(compute((5,), lambda i: f.sum(bytes_[i, K], over=K, dtype="int32"), name="C"), {"A": data})
    np.testing.assert_array_equal(wide, np.full(5, 700))
    narrow = run(compute((5,), lambda i: f.sum(bytes_[i, K], over=K), name="C"), {"A": data})
    np.testing.assert_array_equal(narrow, data.sum(axis=1, dtype="int8"))


@pytest.mark.parametrize(("function", "expected"), [
    (lambda a, b: f.minimum(a, b), np.minimum), (lambda a, b: f.maximum(a, b), np.maximum),
    (lambda a, b: f.where(f.equal(a, b), 1.0, a), lambda a, b: np.where(a == b, 1.0, a)),
    (lambda a, b: f.where(f.not_equal(a, b), b, a), lambda a, b: np.where(a != b, b, a)),
    (lambda a, b: f.math_function("hypot", a, b), np.hypot)])
def test_elementwise(function: Callable[..., object], expected: Callable[..., np.ndarray]) -> None:
    found = run(compute((5, 7), lambda i, j: function(A[i, j], B[i, j]), name="C"), {"A": X, "B": Y})
    np.testing.assert_allclose(found, expected(X, Y), rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh"])
def test_functions_of_one_argument(name: str) -> None:
    data = np.abs(X) + 0.1
    found = run(compute((5, 7), lambda i, j: getattr(f, name)(A[i, j]), name="C"), {"A": data})
    np.testing.assert_allclose(found, getattr(np, name)(data), rtol=1e-6)


def test_absolute_values_and_the_error_function() -> None:
    from math import erf
    found = run(compute((5, 7), lambda i, j: f.erf(f.absolute(A[i, j])), name="C"), {"A": X})
    np.testing.assert_allclose(found, np.vectorize(erf)(np.abs(X)), rtol=1e-6)


def test_only_the_chosen_side_is_read() -> None:
    padded = compute((9,), lambda i: f.where((i >= 1) & (i < 8), A[0, i - 1], 0.0), name="C")
    np.testing.assert_array_equal(run(padded, {"A": X}), np.pad(X[0], 1))
