"""New arrays and array-valued functions of sizes, beside NumPy."""

import numpy as np
import pytest

from polysched.errors import PolyschedError
from tests.scop.python_frontend.running import check, extracted

X = np.random.default_rng(8).normal(size=(4, 5)).astype("float32")


def filled(x):
    n, m = x.shape
    return (np.zeros(n), np.ones((n, m), dtype=np.int8), np.full((m,), 3), np.full((n, 2), 0.5, dtype="float32"),
            np.full(2, True))


def like(x):
    return np.zeros_like(x), np.ones_like(x, dtype=np.int64), np.full_like(x, 7), np.copy(x) + x.copy()


def ranges(x):
    n, m = x.shape
    return np.arange(n), np.arange(1, m), np.arange(-3, 2 * n, 2), np.arange(m, n), np.arange(n) * 0.5


def triangles(x):
    return np.tril(x), np.triu(x, 1), np.tril(x, -2), np.triu(x, x.shape[0] - 3)


def identities(x):
    return np.eye(x.shape[0]), np.eye(3, x.shape[1], dtype=np.float32), np.identity(2) @ np.eye(2, 4)


def written_whole(x):
    out = np.empty((x.shape[0],))
    for i in range(x.shape[0]):
        out[i] = x[i, 0]
    return out


def common_types(x):
    a = np.ones(3, np.int8)
    b = np.zeros(3, np.result_type(a, 1.0, np.float32))
    c = np.ones(3, np.result_type(a, 2))
    d = np.ones(3, np.result_type(2.0, x, a))
    return b, c, d


@pytest.mark.parametrize("function", [filled, like, ranges, triangles, identities, written_whole,
                                      common_types],
                         ids=lambda f: f.__name__)
def test_new_arrays_are_numpys_in_value_and_type(function: object) -> None:
    check(function, X)


def shape_of_data(x):
    return np.zeros(int(x[0, 0]))


def fraction(x):
    return np.arange(0.5)


def backwards(x):
    return np.arange(5, 0, -1)


def of_a_vector(x):
    return np.tril(x[0])


def no_type(x):
    return np.zeros(3, dtype="quaternion")


def full_of_an_array(x):
    return np.full((4, 5), x)


@pytest.mark.parametrize(("function", "words"), [
    (shape_of_data, "the shape of a new array is not affine"), (fraction, "anything but affine integers"),
    (backwards, "a step that is not a positive constant"), (of_a_vector, "a triangle of anything but a matrix"),
    (no_type, "this dtype has no meaning"), (full_of_an_array, "numpy.full of an array")])
def test_what_cannot_be_made_is_refused(function: object, words: str) -> None:
    with pytest.raises(PolyschedError, match=words):
        extracted(function, X)
