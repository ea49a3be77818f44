"""Numbers of every floating-point type by value: what arrives is exactly what was passed."""

from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from polysched.kernel.passed_values import element_type, number_in, number_memory
from polysched.scop.dtypes import BFLOAT16, BY_NAME
from polysched.scop.expression import axis, loop, placeholder, scalar, symbols, update

THIRDS = {"_Float16": np.float16(1) / np.float16(3), "float": np.float32(1) / np.float32(3), "double": 1 / 3,
          "long double": np.longdouble(1) / np.longdouble(3)}
SCALE = """
TYPE scale(int n, TYPE a, const TYPE x[n], TYPE y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) y[i] = a * x[i];
#pragma endscop
  return a;
}
"""


@pytest.mark.parametrize("c_name", THIRDS)
def test_a_c_function_takes_and_returns_every_bit(c_name: str, tmp_path: Path) -> None:
    (tmp_path / "scale.c").write_text(SCALE.replace("TYPE", c_name))
    third = THIRDS[c_name]
    x = np.arange(33).astype(np.asarray(third).dtype)
    y = np.zeros_like(x)
    assert polysched.compile(tmp_path / "scale.c")(third, x, y) == third
    np.testing.assert_array_equal(y, third * x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
def test_a_tensor_expression_takes_every_bit(dtype: str) -> None:
    (n,) = symbols("n")
    x, a, i = placeholder("x", (n,), dtype), scalar("a", dtype), axis("i", n)
    call = polysched.compile(loop(i, update(x[i], x[i] * a)))
    made = np.dtype(dtype).type
    given = np.arange(33).astype(dtype)
    third = made(1) / made(3)
    expected = given * third
    call(given, third)
    np.testing.assert_array_equal(given, expected)


@polysched.kernel
def scaled(y, x, a):
    for i in range(y.shape[0]):
        y[i] = a * x[i]


def test_a_kernel_takes_every_bit_of_long_double() -> None:
    third = np.longdouble(1) / np.longdouble(3)
    x = np.arange(33).astype(np.longdouble)
    y = np.zeros_like(x)
    scaled(y, x, third)
    np.testing.assert_array_equal(y, third * x)


def test_a_kernel_takes_a_number_of_bfloat16() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes", reason="ml_dtypes gives NumPy the type bfloat16").bfloat16
    third = bfloat16(1) / bfloat16(3)
    x = np.arange(33).astype(bfloat16)
    y = np.zeros_like(x)
    scaled(y, x, third)
    np.testing.assert_array_equal(y.view("u2"), (third * x).view("u2"))


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_memory_holds_a_number(name: str) -> None:
    dtype = BY_NAME[name]
    memory = number_memory(1, dtype)
    assert memory.nbytes == dtype.bytes
    assert number_in(memory, dtype) == 1


@pytest.mark.parametrize(("number", "bits"), [(1 / 3, 0x3EAB), (-2.0, 0xC000), (1 + 2**-8, 0x3F80),
                                              (1 + 2**-8 + 2**-40, 0x3F81), (1e39, 0x7F80)])
def test_numbers_are_rounded_once_to_bfloat16(number: float, bits: int) -> None:
    assert number_memory(number, BFLOAT16)[()] == bits


def test_arrays_of_bfloat16_need_the_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> None:
        raise TypeError(f"data type {name!r} not understood")
    monkeypatch.setattr("polysched.kernel.passed_values.np.dtype", unknown)
    with pytest.raises(UsageError, match="y has elements of type bfloat16, which NumPy does not have") as caught:
        element_type("y", BFLOAT16)
    assert "import ml_dtypes" in str(caught.value)
