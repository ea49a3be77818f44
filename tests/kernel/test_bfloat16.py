"""Kernels on bfloat16 arrays: every operation is rounded as ml_dtypes rounds it."""

import numpy as np
import pytest

import polysched

bfloat16 = pytest.importorskip("ml_dtypes", reason="ml_dtypes gives NumPy the type bfloat16").bfloat16


@polysched.kernel
def axpy(y, x, a):
    for i in range(y.shape[0]):
        y[i] += a * x[i]


@polysched.kernel
def scaled(y, x, a):
    for i in range(y.shape[0]):
        y[i] = a * x[i]


@polysched.kernel
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = 0
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


@polysched.kernel
def widened(C, A, B):
    C[:, :] = A.astype(np.float32) @ B.astype(np.float32)


def elements(rng, *shape):
    """Of both signs and very different sizes."""
    return (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(bfloat16)


@pytest.mark.parametrize("n", [1, 31, 32, 33])
def test_every_operation_is_rounded(n):
    rng = np.random.default_rng(n)
    x, y = elements(rng, n), elements(rng, n)
    expected = y + bfloat16(1.7) * x
    axpy(y, x, 1.7)
    np.testing.assert_array_equal(y.view("u2"), expected.view("u2"))


def test_python_numbers_are_rounded_to_the_short_type_first():
    x = np.random.default_rng(31).standard_normal(40).astype(np.float16)
    y = np.zeros_like(x)
    scaled(y, x, 1.7)
    np.testing.assert_array_equal(y, 1.7 * x)


def test_infinities_and_nans_stay_what_they_are():
    x = np.array([np.inf, -np.inf, np.nan, 3e38, 1e-40, -0.0], bfloat16)
    y = np.zeros(6, bfloat16)
    with np.errstate(over="ignore"):
        expected = y + bfloat16(2) * x
    axpy(y, x, 2.0)
    np.testing.assert_array_equal(np.isnan(y.astype("f4")), np.isnan(expected.astype("f4")))
    kept = ~np.isnan(expected.astype("f4"))
    np.testing.assert_array_equal(y[kept].view("u2"), expected[kept].view("u2"))


def test_a_product_accumulates_in_bfloat16():
    rng = np.random.default_rng(1)
    A, B = elements(rng, 7, 9), elements(rng, 9, 5)
    expected, found = np.zeros((7, 5), bfloat16), np.ones((7, 5), bfloat16)
    for k in range(9):
        expected = expected + A[:, k:k + 1] * B[k:k + 1, :]
    product(found, A, B)
    np.testing.assert_array_equal(found.view("u2"), expected.view("u2"))


def test_a_widened_product_is_one_of_floats():
    rng = np.random.default_rng(2)
    A, B, C = elements(rng, 33, 17), elements(rng, 17, 31), np.zeros((33, 31), np.float32)
    widened(C, A, B)
    exact = A.astype("f8") @ B.astype("f8")
    np.testing.assert_allclose(C, exact, rtol=1e-4, atol=1e-3 * np.abs(exact).max() / 100)
