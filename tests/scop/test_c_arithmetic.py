"""C's arithmetic on Python's numbers, against compiled C and NumPy; what C leaves undefined is refused."""

from __future__ import annotations

import ctypes
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UndefinedBehaviourError, UsageError
from polysched.scop.c_arithmetic import (
    bfloat16_bits,
    bfloat16_value,
    convert,
    float_operation,
    integer_operation,
    math_function,
    round_float,
    wrap,
)
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT8, UINT32, DType
from tests.emit_c.compiled import load

NUMBERS = (-2**31, -2**31 + 1, -7, -1, 0, 1, 5, 30, 2**31 - 1)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
def test_unsigned_integers_are_those_of_compiled_c(op: str, tmp_path: Path) -> None:
    f = load(f"unsigned f(unsigned a, unsigned b) {{ return a {op} b; }}\n", tmp_path).f
    f.restype = ctypes.c_uint
    for a, b in itertools.product((n % 2**32 for n in NUMBERS), repeat=2):
        if (op in "/%" and b == 0) or (op in ("<<", ">>") and b >= 32):
            with pytest.raises(UndefinedBehaviourError):
                integer_operation(op, a, b, UINT32, False)
        else:
            assert integer_operation(op, a, b, UINT32, False) == f(ctypes.c_uint(a), ctypes.c_uint(b)), (a, b)


@pytest.mark.parametrize(("op", "left", "right"), [("+", 2**31 - 1, 1), ("-", -2**31, 1), ("*", 2**30, 2),
                                                   ("/", -2**31, -1)])
def test_signed_overflow_is_refused_or_wraps(op: str, left: int, right: int) -> None:
    with pytest.raises(UndefinedBehaviourError, match="signed overflow") as refused:
        integer_operation(op, left, right, INT32, False)
    assert "-fwrapv" in refused.value.hint
    assert -2**31 <= integer_operation(op, left, right, INT32, True) < 2**31


@pytest.mark.parametrize(("value", "dtype", "wrapped"), [
    (300, UINT8, 44), (-1, UINT8, 255), (200, INT8, -56), (2**63, INT64, -2**63), (7, BOOL, 1), (0, BOOL, 0)])
def test_integers_wrap(value: int, dtype: DType, wrapped: int) -> None:
    assert wrap(value, dtype) == wrapped
    assert convert(value, dtype) == wrapped


@pytest.mark.parametrize("value", [1e10, -1e10, math.inf, math.nan, 2.0**31])
def test_floats_out_of_range_are_no_integers(value: float) -> None:
    with pytest.raises(UndefinedBehaviourError, match="conversion"):
        convert(value, INT32)


def test_floats_are_cut_towards_zero() -> None:
    assert [convert(x, INT32) for x in (2.9, -2.9, 2147483647.5)] == [2, -2, 2147483647]
    assert convert(2**24 + 1, FLOAT32) == 2.0**24


def test_rounding_to_every_width() -> None:
    random = np.random.default_rng(1)
    for x in (random.standard_normal(500) * 10.0 ** random.integers(-8, 5, 500)).tolist():
        assert round_float(x, FLOAT32) == float(np.float32(x))
        assert round_float(x, FLOAT16) == float(np.float16(x))
        bits = np.float32(x).view(np.uint32)
        near = {bfloat16_value((int(bits) >> 16) + k) for k in (0, 1)}
        assert round_float(x, BFLOAT16) in near
        assert bfloat16_value(bfloat16_bits(float(round_float(x, BFLOAT16)))) == round_float(x, BFLOAT16)


def test_division_by_zero_is_ieee() -> None:
    assert float_operation("/", 1.0, -0.0, FLOAT64) == -math.inf
    assert math.isnan(float_operation("/", 0.0, 0.0, FLOAT32))
    assert float_operation("*", 1e30, 1e30, FLOAT32) == math.inf


def test_functions_of_math_h() -> None:
    function, types = math_function("expf")
    assert types == (FLOAT32,)
    assert function(1.0) == float(np.float32(math.e))
    assert math_function("floordiv")[0](-7, 2) == -4
    assert math_function("floormod")[0](-7, 2) == 1
    assert math_function("__builtin_inff")[0]() == math.inf
    with pytest.raises(UsageError, match="does not know the function frobnicate") as refused:
        math_function("frobnicate")
    assert "functions=" in refused.value.hint
