"""Types follow NumPy's rules: every conversion is in the bodies, so the interpreter agrees bit by bit."""

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.body import Cast, Literal, statement_expressions, walk
from polysched.scop.dtypes import FLOAT32, FLOAT64
from tests.scop.python_frontend.running import check, extracted

RNG = np.random.default_rng(13)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def arithmetic(a, b, c):
    for i in range(len(a)):
        c[i] = a[i] + b[i] * a[i] - 3


def divisions(a, b, c):
    for i in range(len(a)):
        c[i] = a[i] / b[i] + a[i] // b[i] + a[i] % b[i] + a[i] // 3 + a[i] % 5


def signed_divisions(a, c):
    for i in range(len(a)):
        c[i] = a[i] // -3 + a[i] % -3 - (i - 4) // 3 * 100 + (i - 4) % 3 * 1000


def shifts(a, b):
    for i in range(len(a)):
        b[i] = (a[i] >> 1) ^ (a[i] & 6) | ~a[i]
        a[i] <<= 1


def in_place(a, b):
    for i in range(len(a)):
        a[i] += b[i]
        a[i] *= 3
    a[1:] -= b[1:]


def mixed_scalar(a, s):
    for i in range(len(a)):
        a[i] = a[i] * s + 0.1


def conversions(a, b):
    for i in range(len(a)):
        b[i] = int(a[i] * 10) / 3 + float(a[i]) * np.float32(0.1) + bool(a[i] > 0.5)
    return a.astype(np.int32), a.astype("float32").sum(), np.int8(3) * b[0]


def whole_arrays(a, b):
    c = a * b + a
    return c, np.sum(c), np.prod(a[:3]), c.mean(), a @ b, c > b, -a


def numbers(dtype: str, count: int = 9, low: int | None = None) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return (RNG.random(count) * 10 + 1).astype(dtype)
    info = np.iinfo(kind)
    least = max(info.min, -1000) if low is None else low
    return RNG.integers(least, min(info.max, 1000), count).astype(dtype)


@pytest.mark.parametrize("left", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("right", ["int8", "uint16", "int64", "float16", "float32"])
def test_arithmetic_of_two_types(left: str, right: str) -> None:
    a, b = numbers(left), numbers(right)
    result = np.zeros(len(a), (a + b).dtype)
    check(arithmetic, a, b, result, rtol=1e-2 if result.dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_divisions(dtype: str) -> None:
    check(divisions, numbers(dtype), numbers(dtype, low=1), np.zeros(9), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_division_rounds_towards_minus_infinity(dtype: str) -> None:
    check(signed_divisions, numbers(dtype), np.zeros(9, "int64"))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits(dtype: str) -> None:
    check(shifts, numbers(dtype), numbers(dtype))


@pytest.mark.parametrize(("left", "right"), [
    ("int8", "int8"), ("uint8", "uint8"), ("int32", "int16"), ("uint16", "uint8"), ("float32", "float64"),
    ("float16", "float32"), ("float64", "int64"), ("int64", "int32")])
def test_in_place_operations_keep_the_arrays_type(left: str, right: str) -> None:
    check(in_place, numbers(left), numbers(right), rtol=1e-2 if left == "float16" else 1e-6)


@pytest.mark.parametrize("scalar", [0.5, 3, np.float32(0.1), np.float64(0.1)])
def test_python_scalars_take_the_arrays_type(scalar) -> None:
    check(mixed_scalar, numbers("float32"), scalar, rtol=1e-7)


def test_conversions() -> None:
    check(conversions, RNG.random(6), np.zeros(6), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float32", "float64"])
def test_whole_arrays(dtype: str) -> None:
    check(whole_arrays, numbers(dtype, 7), numbers(dtype, 7), rtol=5e-2 if dtype == "float16" else 1e-5)


def test_float32_with_a_python_number_stays_float32() -> None:
    (statement,) = extracted(mixed_scalar, numbers("float32"), 0.5).scop.statements
    (value,) = statement_expressions(statement.body)
    nodes = list(walk(value))
    assert value.dtype == FLOAT32
    assert [n.text for n in nodes if isinstance(n, Literal)] == ["0.1f"]
    assert [n.operand.dtype for n in nodes if isinstance(n, Cast)] == [FLOAT64]


def pythons_own_functions(a, b, c):
    a[:] = abs(a) + pow(a, 2)
    for i in range(len(b)):
        b[i] = round(b[i]) + round(i / 2) / 4 + abs(-i) + round(c[i])


def test_abs_pow_and_round_are_those_of_python() -> None:
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.25, 7.0])
    for dtype in ("float32", "float64"):
        check(pythons_own_functions, numbers("int32", 7), halves.astype(dtype), numbers("int16", 7), rtol=0)


def test_signed_integers_say_that_they_wrap() -> None:
    scop = extracted(in_place, numbers("int32"), numbers("int32")).scop
    assert "signed integers wrap around, as NumPy's do: compile with -fwrapv" in [a.text for a in scop.assumptions]


def products_in_another_type(a, b):
    return (np.matmul(a, b, dtype=np.int32), np.einsum("ik,kj->ij", a, b, dtype=np.int32),
            np.einsum("ik,kj->ij", a, b, dtype=None))


def narrowed_product(a, b):
    return np.matmul(a, b, dtype=np.int8)


def test_products_are_computed_in_the_type_that_is_asked_for() -> None:
    a, b = np.full((3, 5), 255, np.uint8), np.full((5, 4), -128, np.int8)
    check(products_in_another_type, a, b, rtol=0)
    with pytest.raises(UnsupportedScopError, match="arithmetic in int8 of elements of int16"):
        extracted(narrowed_product, a.astype(np.int16), b)
