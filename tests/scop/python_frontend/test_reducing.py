"""Products, einsum and reductions beside NumPy, in types that round, wrap and promote."""

import numpy as np
import pytest

from polysched.errors import PolyschedError
from tests.scop.python_frontend.running import check, extracted

RNG = np.random.default_rng(6)
TYPES = ["bool", "int8", "uint8", "int32", "float32", "float64"]


def array(dtype: str, *shape: int) -> np.ndarray:
    if dtype == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return RNG.normal(size=shape).astype(dtype)
    return RNG.integers(-100 if dtype[0] == "i" else 0, 100, shape).astype(dtype)


def sums(x):
    return x.sum(), x.sum(axis=0), np.sum(x, axis=-1, keepdims=True), x.sum(axis=(0, 1))


def products(x):
    return x.prod(axis=1), np.prod(x, axis=(1, 0), keepdims=True)


def extrema(x):
    return x.max(), x.min(axis=0), np.max(x, axis=1, keepdims=True), x.argmax(), x.argmin(axis=1)


def moments(x):
    return x.mean(axis=0), np.var(x, axis=1, ddof=1), x.std(), np.mean(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", [sums, products, extrema, moments], ids=lambda f: f.__name__)
def test_reductions_are_numpys_in_value_and_type(function: object, dtype: str) -> None:
    check(function, array(dtype, 4, 5))


def test_what_is_no_number_is_propagated() -> None:
    x = array("float64", 4, 5)
    x[1, 2] = x[3, 0] = np.nan
    check(extrema, x)


def matrix(a, b):
    return a @ b, np.dot(a, b), np.einsum("ij,jk->ki", a, b), np.einsum("ij,jk", a, b)


@pytest.mark.parametrize("right", TYPES)
@pytest.mark.parametrize("left", ["bool", "int8", "float32"])
def test_products_promote(left: str, right: str) -> None:
    check(matrix, array(left, 3, 4), array(right, 4, 5), rtol=2e-5)


def stacked(a, b, v):
    return a @ b, v @ b, a @ v


def test_stacks_broadcast() -> None:
    check(stacked, array("float64", 2, 3, 4), array("float64", 4, 4), array("float64", 4))


def several(a, b, c):
    return np.einsum("ii->i", a), np.einsum("ij->", a), np.einsum("ij,kj,k->i", a, b, c), np.einsum("i,j->ij", c, c)


def test_einsum_of_diagonals_sums_and_three_operands() -> None:
    check(several, array("float64", 4, 4), array("float64", 3, 4), array("float64", 3))


def wrong_letters(a):
    return np.einsum("ij->k", a)


def too_few_letters(a):
    return np.einsum("i->i", a)


def dots(a):
    return np.einsum("...i->...", a)


def twice(a):
    return np.sum(a, axis=(0, 0))


def scalar_product(a):
    return a @ 3


@pytest.mark.parametrize(("function", "words"), [
    (wrong_letters, "has a letter that no operand has"), (too_few_letters, "do not fit the operands"),
    (dots, "an ellipsis in the subscripts"), (twice, "no axis"), (scalar_product, "`@` of a scalar")])
def test_what_does_not_fit_is_refused(function: object, words: str) -> None:
    with pytest.raises(PolyschedError, match=words):
        extracted(function, np.zeros((3, 4)))


def fixed():
    return np.zeros((2, 3)) @ np.zeros((4, 2))


def test_inner_extents_that_never_are_equal() -> None:
    with pytest.raises(PolyschedError, match="the inner extents of the product differ"):
        extracted(fixed)
