"""What scalar expressions mean: types as NumPy's, shapes as affine functions, guards around the chosen side."""

from contextlib import contextmanager

import islpy as isl
import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.scop.construction import values
from polysched.scop.expression.evaluation import SHAPES, Scope, evaluate, size_of, type_of
from polysched.scop.expression.functions import argmax, equal, exp, minimum, sum, where
from polysched.scop.expression.tensors import Expression, axis, placeholder, symbols

N, M = symbols("N M")
K = axis("k", N)
BYTES, SHORTS, FLOATS = (placeholder("x", (N,), dtype) for dtype in ("uint8", "int16", "float32"))


@pytest.mark.parametrize(("expression", "dtype"), [
    (BYTES[K] + SHORTS[K], np.result_type("uint8", "int16").name), (BYTES[K] + 1, "uint8"), (BYTES[K] + 0.5, "float64"),
    (FLOATS[K] * 2, "float32"), (BYTES[K] / 2, "float64"), (BYTES[K] // 2, "uint8"), (exp(FLOATS[K]), "float32"),
    (equal(BYTES[K], 3), "bool"), (sum(BYTES[K], over=K), "uint8"), (sum(BYTES[K], over=K, dtype="int32"), "int32"),
    (argmax(FLOATS[K], over=K), "int64"), (sum(equal(BYTES[K], 3), over=K), "int64"),
    (where(equal(BYTES[K], 0), SHORTS[K], FLOATS[K]), "float32")])
def test_types_are_numpys(expression: Expression, dtype: str) -> None:
    assert type_of(expression).name == dtype


@pytest.mark.parametrize(("size", "affine"), [
    (N + 2 * M - 1, "[N, M] -> { [(N + 2M - 1)] }"), ((N + 7) // 8, "[N] -> { [(floor((N + 7)/8))] }"),
    (minimum(N, M), "[N, M] -> { [(N)] : N <= M; [(M)] : N > M }"), (N % 4, "[N] -> { [(N mod 4)] }")])
def test_sizes_are_affine(size: Expression, affine: str) -> None:
    assert size_of(size).is_equal(isl.PwAff(affine))


def test_products_of_symbols_are_no_size() -> None:
    with pytest.raises(UsageError, match="affine expression of symbols"):
        size_of(N * M)


def test_operations_that_types_do_not_allow_are_refused_in_words() -> None:
    with pytest.raises(UsageError, match="`&` of floating-point values"):
        type_of(FLOATS[K] & 1)


def test_each_side_of_an_affine_condition_is_evaluated_under_it() -> None:
    opened: list[isl.Set] = []

    @contextmanager
    def guard(condition: isl.Set):
        opened.append(condition)
        yield

    scope = Scope(axis=SHAPES.axis, symbol=values.parameter, read=SHAPES.read, guard=guard)
    evaluate(where(K < 3, FLOATS[K], 0.0), scope)
    below, above = opened
    assert below.is_equal(isl.Set("[k] -> { : k < 3 }"))
    assert above.is_equal(isl.Set("[k] -> { : k >= 3 }"))
    opened.clear()
    evaluate(where(FLOATS[K] < 3, FLOATS[K], 0.0), scope)
    assert opened == [], "data decide there"


def test_a_reduction_has_no_value_of_its_own() -> None:
    with pytest.raises(TypeError, match="Reduction has no value of its own"):
        evaluate(sum(FLOATS[K], over=K), SHAPES)
