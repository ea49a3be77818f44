"""Tuples and lists hold the values of the moment, and unpacking evaluates everything before it assigns anything."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from tests.scop.python_frontend.running import check, extracted


def exchanged_in_lists(A):
    [A[0], A[1]] = [A[1], A[0]]
    [A[2], A[3]] = A[3], A[2]


def nested(A):
    A[0], (A[1], A[2]) = A[2], (A[0], A[1])
    (x, A[3]), A[4] = (A[4], A[5]), A[3]
    A[5] = x


def unpacked_later(A):
    x, y = A[0], A[1]
    t = (y, x)
    x, y = t
    A[2:4] = x
    A[3] = y


def item_of_an_element(A):
    t = (A[0], [A[1], 3])
    A[0] = 7
    A[1] = 9
    A[2] = t[0] + t[1][0]


def item_of_a_variable(A):
    x = A[0]
    t = (x, 1)
    x += 1
    A[2] = t[0] + x * 10


def item_of_an_array(A):
    t = (A + 1, A.sum(), A[::-1] * 2)
    A[:] = 0
    A[:] = t[0] + t[1] + t[2]


def parts_are_no_copies(A):
    t = (A[1:], A[0])
    A[:] = 4
    t[0][0] = 5
    A[5] = t[1]


def sums_of_tuples(A):
    t = (A[0],)
    t = t + (A[1],)  # noqa: RUF005
    A[0] = 9
    A[1] = t[0] - t[1]


def several_targets(A):
    (x, y) = z = (A[0], A[1])
    A[0] = A[1] = A[0] + A[1]
    A[2] = z[0] + x + y


def in_a_loop(A):
    first = (A[0], A.shape[0])
    for i in range(2, A.shape[0]):
        last = (A[i], i)
        A[0] = A[i] + 1
        A[i] = first[0] + last[0]
        A[1], A[i] = A[i], A[1] + last[1]


def under_a_branch(A):
    t = (A[0], A[1])
    for i in range(A.shape[0]):
        if A[i] > 3:
            A[i], A[0] = t[0], A[i]


def returned(A):
    t = (A[0], A[1] * 2)
    A[0] = 9
    A[1] = 8
    return t


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("function", [
    exchanged_in_lists, nested, unpacked_later, item_of_an_element, item_of_a_variable, item_of_an_array,
    parts_are_no_copies, sums_of_tuples, several_targets, in_a_loop, under_a_branch, returned],
    ids=lambda f: f.__name__)
def test_values_are_those_of_their_moment(function: object, dtype: str) -> None:
    check(function, (np.arange(8) * 3 % 7 + 1).astype(dtype), rtol=1e-12)


def places(A, at):
    t = (at[0], at[1])
    A[t[0]] = A[t[1]] + 1


def changed_places(A, at):
    t = (at[0], at[1])
    at[0] = 3
    A[0] = t[0] + at[0]


def test_subscripts_may_stand_in_a_tuple() -> None:
    check(places, np.arange(6.0), np.array([2, 4]))
    check(changed_places, np.arange(6.0), np.array([2, 4]))


def updates(A, B, s):
    s += 2
    t = s
    s *= 3
    A[1:] += A[:-1]
    A[0] -= s
    A[2] //= 2
    A[3] %= 4
    B -= A[0] + t
    B[::2] *= B[0]


@pytest.mark.parametrize(("a", "b", "s"), [("float32", "float64", 5), ("int64", "float32", 3), ("int16", "int64", -4)])
def test_updates_in_place_are_numpys(a: str, b: str, s: int) -> None:
    check(updates, np.arange(1, 8).astype(a), np.arange(8).astype(b), s)


def too_few(A):
    A[0], A[1] = A[0], A[1], A[2]


def the_rest(A):
    x, *_y = A[0], A[1], A[2]
    A[3] = x


def no_sequence(A):
    x, y = A[0]
    A[1] = x + y


def to_an_attribute(A):
    A.flat = 3


def array_of_a_tuple(A):
    A[0] = (1, 2)


def wrong_kind(A):
    A += 0.5


@pytest.mark.parametrize(("function", "problem"), [
    (the_rest, r"`\*_y` stands for any number of items"), (too_few, "3 values for 2 targets"),
    (no_sequence, "a number does not unpack into 2 names"),
    (to_an_attribute, "an assignment to `A.flat`"), (array_of_a_tuple, "a tuple is assigned to an array"),
    (wrong_kind, "result of an in-place operation does not fit int64")], ids=lambda p: getattr(p, "__name__", ""))
def test_what_has_no_meaning_is_refused(function: object, problem: str) -> None:
    with pytest.raises(UnsupportedScopError, match=problem):
        extracted(function, np.arange(5))

def leading_ones(A, B):
    A[:] = B
    A[1:] = B[..., :-1] * 2


@pytest.mark.parametrize("shape", [(1, 8), (1, 1, 8)])
def test_a_row_takes_a_value_with_more_dimensions_of_extent_1(shape: tuple[int, ...]) -> None:
    check(leading_ones, np.zeros(8), np.arange(8.0).reshape(shape))
