"""Calls mean what they mean in Python and NumPy: results, types, and refusals in words."""

import math
from types import ModuleType

import numpy as np
import pytest

from polysched.errors import PolyschedError
from tests.scop.python_frontend.running import check, extracted

RNG = np.random.default_rng(5)
ABOUT = np.float64(0.1)
SETTINGS = ModuleType("settings")
SETTINGS.about = ABOUT


def root(y, x):
    y[:] = x * np.sqrt(2.0)


def root_of_a_size(y, x):
    y[:] = x / np.sqrt(x.shape[0])


def sums_and_extrema(y, x):
    y[:] = x * np.add(0.1, 0.2) * np.maximum(0.1, 0.3) * np.abs(-0.1) * np.clip(0.1, 0, 1)


def chosen(y, x):
    y[:] = x * np.where(True, 0.1, 0.2) * np.square(0.1) * np.negative(0.1) * np.dot(0.1, 0.7)


def product_of_an_index(y, x):
    for i in range(x.shape[0]):
        y[i] = x[i] * np.multiply(i, 0.1)


def number_from_outside(y, x):
    y[:] = x * ABOUT


def number_of_a_module(y, x):
    y[:] = x * SETTINGS.about


def pythons_own(y, x):
    y[:] = x * math.sqrt(2.0) * abs(-0.1) * pow(0.1, 2) * max(0.1, 0.3) * float(3) * 0.1


NUMBERS = [root, root_of_a_size, sums_and_extrema, chosen, product_of_an_index, number_from_outside, number_of_a_module,
           pythons_own]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("function", NUMBERS, ids=lambda f: f.__name__)
def test_a_number_of_numpys_keeps_its_type_and_pythons_does_not(function: object, dtype: str) -> None:
    x = RNG.normal(size=40).astype(dtype)
    check(function, np.zeros_like(x), x, rtol=0, atol=0)


def indices_stay_affine(y, x):
    for i in range(x.shape[0]):
        y[np.minimum(i, 3) // 2] += x[np.maximum(i, 1) - 1]


def test_an_index_through_numpy_stays_affine() -> None:
    check(indices_stay_affine, np.zeros(4), RNG.normal(size=9))


def attributes(y, x):
    y[0] = x.ndim + x.size + len(x) + x.T.shape[0]
    y[1:3] = x.transpose(1, 0)[0, :2]
    y[3:5] = np.transpose(x, (0, -1))[1, :2]
    y[5] = x.astype(np.int32).max() + x.copy().dot(x[0])[0]


def test_attributes_and_methods() -> None:
    check(attributes, np.zeros(6), RNG.normal(size=(4, 4)) * 9)


def types_by_name(y, x):
    y[:] = np.int8(x) + np.float32(0.5)


def test_conversions_by_a_types_constructor() -> None:
    check(types_by_name, np.zeros(5, "float32"), np.array([1, -2, 3, 100, -100], "int32"))


def keyword(y, x):
    y[:] = np.exp(x, out=y)


def unknown_function(y, x):
    y[:] = np.sort(x)


def unknown_attribute(y, x):
    y[:] = x.flat


def too_many(y, x):
    y[:] = np.exp(x, x, x)


def scalar_of_an_array(y, x):
    y[:] = math.exp(x)


def extremum_of_an_array(y, x):
    y[:] = max(x)


def no_axis(y, x):
    y[0] = np.sum(x, axis=3)


def unsafe_arithmetic(y, x):
    y[0] = np.einsum("i,i->", x, x, dtype=np.int8)


@pytest.mark.parametrize(("function", "words"), [
    (keyword, "exp with out has no meaning in a kernel"), (unknown_function, "the function sort has no meaning"),
    (unknown_attribute, "the attribute flat of an array"), (too_many, "exp takes 1 argument, not 3"),
    (scalar_of_an_array, "exp of an array"), (extremum_of_an_array, "max of anything but two or more numbers"),
    (no_axis, "the array has no axis"), (unsafe_arithmetic, "arithmetic in int8 of elements of float64")])
def test_what_has_no_meaning_is_refused(function: object, words: str) -> None:
    with pytest.raises(PolyschedError, match=words):
        extracted(function, np.zeros(5), np.zeros(5))
