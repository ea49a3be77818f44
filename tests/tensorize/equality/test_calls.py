"""Calls that operators can say: the same function on all values, and other calls as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from polysched.scop.body import Binary, Call, Load, walk
from polysched.scop.dtypes import FLOAT32, INT32, UINT32, UINT64
from polysched.tensorize.description.exact_numbers import MEANINGS
from polysched.tensorize.equality.calls import in_operators
from polysched.tensorize.equality.evaluation import evaluate

X = Load("x", INT32)
VALUES = np.array([-2**31, -40000, -129, -128, -1, 0, 1, 127, 128, 255, 256, 40000, 2**31 - 1], np.int32)


@pytest.mark.parametrize(("function", "meaning"), [
    ("sat_i8", lambda v: np.clip(v, -128, 127)), ("sat_u8", lambda v: np.clip(v, 0, 255)),
    ("sat_i16", lambda v: np.clip(v, -2**15, 2**15 - 1))])
def test_saturations(function: str, meaning: Callable[[np.ndarray], np.ndarray]) -> None:
    made = in_operators(Call(function, (X,), INT32))
    assert not any(isinstance(e, Call) for e in walk(made))
    np.testing.assert_array_equal(evaluate(made, {"x": VALUES}), meaning(VALUES))


def test_absolute_values_but_for_the_least() -> None:
    made = in_operators(Call("abs", (X,), INT32))
    assert not any(isinstance(e, Call) for e in walk(made))
    np.testing.assert_array_equal(evaluate(made, {"x": VALUES[1:]}), np.abs(VALUES[1:]))


def test_bits_are_counted_under_the_compilers_name_too() -> None:
    x = Load("x", UINT32)
    made = in_operators(Call("__builtin_popcount", (x,), INT32))
    if not any(isinstance(e, Call) for e in walk(made)):
        values = np.array([0, 1, 0xFF, 0xF0F0F0F0, 2**32 - 1], np.uint32)
        assert evaluate(made, {"x": values}).tolist() == [0, 1, 8, 16, 32]
    assert made.dtype == INT32


@pytest.mark.parametrize("name", ["clz", "ctz"])
@pytest.mark.parametrize("bits", [32, 64])
def test_zeros_before_and_behind_a_one_are_counted_in_operators(name: str, bits: int) -> None:
    dtype = UINT32 if bits == 32 else UINT64
    made = in_operators(Call(f"{name}_u{bits}", (Load("x", dtype),), INT32))
    values = [0, 1, 2, 3, 1 << 7, 12 << 9, 1 << (bits - 1), (1 << bits) - 1, 5 << (bits - 4)]
    assert not any(isinstance(e, Call) for e in walk(made))
    assert evaluate(made, {"x": np.array(values, f"uint{bits}")}).tolist() == [
        MEANINGS[f"{name}_u{bits}"](v) for v in values]


def test_other_calls_stay() -> None:
    call = Call("expf", (Load("x", FLOAT32),), FLOAT32)
    assert in_operators(call) == call
    wrong = Call("sat_i8", (X, X), INT32)
    assert in_operators(wrong) == wrong, "of another number of arguments"


def test_calls_inside_are_seen() -> None:
    made = in_operators(Binary("+", X, Call("sat_i8", (X,), INT32), INT32))
    assert isinstance(made, Binary)
    assert not any(isinstance(e, Call) for e in walk(made))
