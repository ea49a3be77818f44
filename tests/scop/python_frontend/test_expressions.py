"""Expressions have NumPy's and Python's values, and stay affine where sizes and indices alone decide them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from tests.scop.python_frontend.running import check, extracted


def truth_values(A, n):
    x = n > 3 and n < 10
    y = not x or n == 4
    if x:
        A[0] = 1
    if y and A[1] > 0:
        A[1] = 5
    A[2] = x + y


def choices(A, n):
    for i in range(A.shape[0]):
        k = i if i < n else n - 1
        A[i] = A[k] if k > 0 else 4
        m = (i if A[i] > 2 else 0)
        A[i] += m


def chain_of_comparisons(A, n):
    for i in range(A.shape[0]):
        A[i] = 1 < A[i] <= 4 != n


def quotients(A, n):
    for i in range(A.shape[0]):
        A[i] = (i - 4) // 3 + (i - 4) % 3 + (-n) // 4 + (4 - i) % -3


def bits(A, n):
    for i in range(A.shape[0]):
        A[i] = (i << 2) + (n >> 1) + (i & 3) + (n | 1) + (i ^ 5) + ~i


def slices_from_the_end(A):
    A[-3:] = A[:3]
    A[::-2] += 1
    A[-1] = A[-2]
    A[2:-2] *= 2


def signs(A):
    for i in range(A.shape[0]):
        A[i] = -A[i] + +A[i] * 2 - abs(-A[i])


def extrema(A, n):
    for i in range(A.shape[0]):
        A[i] = max(A[i], i, n) - min(i, 3)


def count_of_truth(A):
    c = 0
    for i in range(A.shape[0]):
        c += A[i] > 3
    A[0] = c


def sum_of_elements(A):
    s = 0
    for i in range(A.shape[0]):
        s += A[i]
    A[0] = s / 2


def second_name_of_an_array(A):
    B = A + 1
    C = B
    C[0] = 50
    B = B * 2
    A[:] = B + C


@pytest.mark.parametrize("dtype", ["float64", "int32", "float32"])
@pytest.mark.parametrize("function", [
    truth_values, choices, chain_of_comparisons, quotients, bits, slices_from_the_end, signs, extrema,
    count_of_truth, sum_of_elements, second_name_of_an_array], ids=lambda f: f.__name__)
def test_values_are_pythons(function: Any, dtype: str) -> None:
    for size in (5, -3):
        if function in (choices, extrema) and size < 0:
            continue   # they subscript by the size
        check(function, (np.arange(8) * 5 % 7).astype(dtype), *([size] if function.__code__.co_argcount == 2 else []))


def only_where_it_exists(A, n):
    for i in range(A.shape[0]):
        if i > 0 and A[i - 1] > 2:
            A[i] = 1
        if i == A.shape[0] - 1 or A[i + 1] > 3:
            A[i] += 4


def chosen_where_it_exists(A, n):
    for i in range(A.shape[0]):
        A[i] = A[i + 1] if i + 1 < A.shape[0] else A[0]


@pytest.mark.parametrize("function", [only_where_it_exists, chosen_where_it_exists], ids=lambda f: f.__name__)
def test_what_is_not_evaluated_may_lie_outside(function: Any) -> None:
    check(function, np.array([3.0, 1.0, 4.0, 1.0, 5.0]), 2)


def identity(A, n):
    A[0] = A is n


def member(A, n):
    A[0] = n in (1, 2)


def truth_of_a_number(A, n):
    A[0] = n and A[1]


def negated_array(A, n):
    A[:] = not A


def size_of_a_slice(A, n):
    A[::n] = 0


def fraction_as_an_index(A, n):
    A[n / 2] = 0


def array_as_an_index(A, n):
    A[A] = 0


def starred(A, n):
    A[0] = max(*(1, 2))


def attribute_of_a_number(A, n):
    A[0] = n.real


def unknown(A, n):
    A[0] = nowhere  # noqa: F821


def lambda_of(A, n):
    A[0] = (lambda: 3)()


OUTER = np.arange(3)


def outer_array(A, n):
    A[0] = OUTER[1]


def read_first(A, n):
    A[0] = x   # noqa: F821
    x = 3   # noqa: F841


@pytest.mark.parametrize(("function", "problem"), [
    (identity, "`is` and `in`"), (member, "`is` and `in`"),
    (truth_of_a_number, "values that are not truth values"), (negated_array, "`not` of an array"),
    (size_of_a_slice, "the step of a slice is a constant"), (fraction_as_an_index, "the index is not an integer"),
    (array_as_an_index, "an index that is an array"), (starred, "a call with *"), (attribute_of_a_number, "real"),
    (unknown, "the name nowhere is not defined"), (lambda_of, "Lambda"), (outer_array, "array from outside"),
    (read_first, "x may be read before it is assigned")], ids=lambda p: getattr(p, "__name__", ""))
def test_what_has_no_form_is_refused(function: Any, problem: str) -> None:
    with pytest.raises(UnsupportedScopError) as raised:
        extracted(function, np.arange(6.0), 4)
    assert problem in str(raised.value)


def outer_names(A, n):
    A[0] = math.pi * n + math.floor(A[1])


def test_what_a_function_sees_outside_is_noted() -> None:
    python = check(outer_names, np.arange(3.0) + 0.5, 2)
    assert {"math.pi": math.pi, "math.floor": math.floor}.items() <= python.captured.items()
