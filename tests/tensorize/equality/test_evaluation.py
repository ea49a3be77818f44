"""Expressions on NumPy vectors: the values of C's arithmetic, and what has no vector form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.c_arithmetic import integer_operation, wrap
from polysched.scop.dtypes import BFLOAT16, FLOAT32, FLOAT64, INT8, INT32, UINT8, UINT32, DType
from polysched.tensorize.equality.evaluation import NotEvaluable, evaluate, numpy_dtype

PAIRS = list(itertools.product((-2**31, -100, -3, -1, 0, 1, 2, 7, 255, 2**31 - 1), repeat=2))


def vectors(dtype: DType) -> dict[str, np.ndarray]:
    return {name: np.array([wrap(pair[k], dtype) for pair in PAIRS], numpy_dtype(dtype))
            for k, name in enumerate("xy")}


@pytest.mark.parametrize("dtype", [INT32, UINT32])
@pytest.mark.parametrize("op", ["+", "-", "*", "&", "|", "^"])
def test_integers_wrap(op: str, dtype: DType) -> None:
    e = Binary(op, Load("x", dtype), Load("y", dtype), dtype)
    found = evaluate(e, vectors(dtype))
    expected = [integer_operation(op, wrap(a, dtype), wrap(b, dtype), dtype, True) for a, b in PAIRS]
    assert found.tolist() == expected


def test_narrow_operands_are_promoted() -> None:
    values = {"x": np.array([200, 100], np.uint8), "y": np.array([-100, 100], np.int8)}
    e = Binary("+", Load("x", UINT8), Load("y", INT8), INT32)
    assert evaluate(e, values).tolist() == [100, 200]
    assert evaluate(Cast(e, UINT8), values).tolist() == [100, 200]


@pytest.mark.parametrize(("e", "expected"), [
    (Select(Binary("<", Load("x", INT32), Literal("0", 0, INT32), INT32), Unary("-", Load("x", INT32), INT32),
            Load("x", INT32), INT32), [3, 0, 5]),
    (Binary("/", Load("x", INT32), Literal("2", 2, INT32), INT32), [-1, 0, 2]),      # towards zero
    (Binary("%", Load("x", INT32), Literal("2", 2, INT32), INT32), [-1, 0, 1]),
    (Binary(">>", Load("x", INT32), Literal("1", 1, INT32), INT32), [-2, 0, 2]),
    (Unary("~", Load("x", INT32), INT32), [2, -1, -6]),
    (Binary("==", Load("x", INT32), Literal("5", 5, INT32), INT32), [0, 0, 1]),
])
def test_values(e: Expr, expected: list[int]) -> None:
    assert evaluate(e, {"x": np.array([-3, 0, 5], np.int32)}).tolist() == expected


def test_floats_are_rounded_to_their_type() -> None:
    e = Binary("*", Load("x", FLOAT32), Load("x", FLOAT32), FLOAT32)
    x = np.float32([1.1, 3e30])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(evaluate(e, {"x": x}), x * x)
    wide = evaluate(Cast(Load("x", FLOAT32), FLOAT64), {"x": x})
    assert wide.dtype == np.float64


@pytest.mark.parametrize("e", [Call("frobnicate", (Load("x", INT32),), INT32), Cast(Load("x", INT32), BFLOAT16)])
def test_what_has_no_vector_form(e: Expr) -> None:
    with pytest.raises((NotEvaluable, TypeError)):
        evaluate(e, {"x": np.array([1], np.int32)})
