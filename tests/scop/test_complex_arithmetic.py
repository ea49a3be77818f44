"""C's arithmetic on complex numbers, one value at a time, against compiled C: infinities, zeros and NaNs included."""

from __future__ import annotations

import ctypes
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.scop.complex_arithmetic import complex_function, complex_operation, convert
from polysched.scop.dtypes import BOOL, CLONGDOUBLE, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, DType
from tests.emit_c.compiled import load

PARTS = (0.0, -0.0, 1.0, -2.5, 1e300, math.inf, -math.inf, math.nan)
OF_FLOAT = (0.0, -0.0, 1.0, -2.5, 3e38, math.inf, -math.inf, math.nan, 0.1)


def same(left: complex, right: complex) -> bool:
    """Bit for bit, but one NaN is as good as another."""
    return all((math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
               for a, b in ((left.real, right.real), (left.imag, right.imag)))


def computed(c: str, left: np.ndarray, right: np.ndarray, folder: Path) -> np.ndarray:
    """What a C expression of a and b gives for each pair."""
    names = {"complex128": "double _Complex", "complex64": "float _Complex", "float64": "double", "float32": "float"}
    a, b, r = names[left.dtype.name], names[right.dtype.name], names[np.result_type(left, right).name]
    text = f"void f(int n, const {a} *x, const {b} *y, {r} *z) {{\n" \
           f"  for (int i = 0; i < n; i++) {{ {a} a = x[i]; {b} b = y[i]; z[i] = {c}; }} }}\n"
    result = np.zeros(left.size, np.result_type(left, right))
    load(text, folder).f(left.size, *(array.ctypes.data_as(ctypes.c_void_p)
                                      for array in (left, right, result)))
    return result


def pairs(dtype: DType, left_real: bool, right_real: bool) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of numbers with these parts, as elements of two arrays; real ones where told so."""
    parts = np.array(PARTS if dtype == COMPLEX128 else OF_FLOAT, np.float64 if dtype == COMPLEX128 else np.float32)
    numbers = np.array([complex(x, y) for x, y in itertools.product(parts.tolist(), repeat=2)], dtype.name)
    left, right = (parts if real else numbers for real in (left_real, right_real))
    return np.repeat(left, right.size), np.tile(right, left.size)


@pytest.mark.parametrize("dtype", [COMPLEX128, COMPLEX64], ids=str)
@pytest.mark.parametrize("op", ["+", "-", "*"])
@pytest.mark.parametrize("real", [(False, False), (True, False), (False, True)])
def test_operations_are_those_of_compiled_c(dtype: DType, op: str, real: tuple[bool, bool], tmp_path: Path) -> None:
    left, right = pairs(dtype, *real)
    expected = computed(f"a {op} b", left, right, tmp_path)
    for a, b, c in zip(left.tolist(), right.tolist(), expected.tolist(), strict=True):
        assert same(complex_operation(op, a, b, dtype), c), (a, op, b, c)


def test_a_complex_number_is_divided_by_a_real_one(tmp_path: Path) -> None:
    left, right = pairs(COMPLEX128, False, True)
    expected = computed("a / b", left, right, tmp_path)
    for a, b, c in zip(left.tolist(), right.tolist(), expected.tolist(), strict=True):
        assert same(complex_operation("/", a, b, COMPLEX128), c), (a, b, c)


def test_a_product_keeps_infinities() -> None:
    """The naive formula makes NaNs of both parts, NumPy's and Python's too."""
    product = complex_operation("*", complex(math.inf, math.inf), complex(1, 0), COMPLEX128)
    assert math.isinf(product.real)


def test_a_real_factor_is_no_complex_one() -> None:
    assert same(complex_operation("*", 2.0, complex(1, math.inf), COMPLEX128), complex(2, math.inf))


def test_division_by_a_complex_number_is_refused() -> None:
    with pytest.raises(UsageError, match="does not divide by complex numbers"):
        complex_operation("/", 1j, 1j, COMPLEX128)


def test_conversions() -> None:
    assert convert(complex(0.1, 0.2), COMPLEX64) == complex(np.float32(0.1), np.float32(0.2))
    assert convert(3, COMPLEX128) == 3 + 0j
    assert convert(complex(2.75, 9), INT32) == 2
    assert convert(complex(0, 9), BOOL) == 1
    assert convert(complex(0.1, 9), FLOAT32) == float(np.float32(0.1))
    assert convert(0.1, FLOAT64) == 0.1
    with pytest.raises(UsageError, match="no numbers of type long double _Complex"):
        convert(1.0, CLONGDOUBLE)


def test_functions_of_complex_h() -> None:
    z = complex(3, -4)
    results = {name: complex_function(name)[0](z) for name in ("creal", "cimag", "conj", "cabs", "conjf", "cabsf")}
    assert results == {"creal": 3, "cimag": -4, "conj": 3 + 4j, "cabs": 5, "conjf": 3 + 4j, "cabsf": 5}
    assert complex_function("carg")[0](z) == math.atan2(-4, 3)
    assert complex_function("carg")[1] == (COMPLEX128,)
    assert complex_function("cargf")[1] == (COMPLEX64,)
    assert complex_function("sqrt")[0](4.0) == 2
    with pytest.raises(UsageError, match="does not know the function cexp"):
        complex_function("cexp")
