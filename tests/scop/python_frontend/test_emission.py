"""The right side of an assignment is evaluated before anything is written, whatever it reads of the target."""

import math

import numpy as np
import pytest

from tests.scop.python_frontend.running import check


def element(A):
    A[:] = A[0] + 1


def bare_element(A):
    A[:] = A[0]


def two_elements_backwards(A):
    A[::-1] = A[2] * A[3]


def of_a_function(A):
    A[1:] = math.exp(A[1])


def under_a_loop(A):
    for i in range(A.shape[0]):
        A[:] = A[i] + A[0] * 0.25


def update(A):
    A += A[0]
    A *= A[1] + 1
    A[1:] -= A[1]


def array_and_element(A):
    A[2:5] = A[1:4] * A[3]
    A[:] = A[::-1] + A[0]
    A[:] = np.where(A[0] > 0, A, A[1])


def reductions(A):
    A[:] = A.sum() + A
    A -= A.mean()
    A[:] = A.max()


def of_another_element(A):
    A[0] = A[1] + 1
    A[1:3] = A[0] * 2


def swapped(A):
    A[0], A[1] = A[1], A[0]
    s, t = A[2], A[3]
    A[2] = 7
    A[3] = s + t


@pytest.mark.parametrize("function", [
    element, bare_element, two_elements_backwards, of_a_function, under_a_loop, update, array_and_element, reductions,
    of_another_element, swapped], ids=lambda f: f.__name__)
def test_what_is_read_is_what_was_there_before(function: object) -> None:
    check(function, np.random.default_rng(4).normal(size=8), rtol=1e-12)


def plain(A, B):
    A[1:] = B[0] + A[0]


def test_what_no_write_overtakes_needs_no_copy() -> None:
    python = check(plain, np.arange(8.0), np.ones(3))
    assert {a.name for a in python.scop.arrays} == {"A", "B"}
    assert len(check(element, np.arange(8.0)).scop.arrays) == 2, "the old element is kept"


@pytest.mark.parametrize("number", [np.uint8(255), np.int8(-1), np.uint16(65535), np.uint32(2**32 - 1), np.int64(-1)])
@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_an_update_of_truth_values_wraps_before_it_is_tested(number: np.integer, op: str) -> None:
    def plus(x, n):
        for i in range(x.shape[0]):
            x[i] += n

    def minus(x, n):
        for i in range(x.shape[0]):
            x[i] -= n

    def times(x, n):
        for i in range(x.shape[0]):
            x[i] *= n
    check({"+": plus, "-": minus, "*": times}[op], np.array([True, False]), number)
