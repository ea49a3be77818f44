"""Quotients, remainders, powers and calls are Python's and NumPy's."""

import islpy as isl
import numpy as np
import pytest

from polysched.scop.construction import functions, values
from polysched.scop.construction.values import CannotExpress
from polysched.scop.dtypes import BOOL, FLOAT32, INT8, INT32, UINT8
from tests.scop.construction.elementwise import computed

INTEGERS = (np.array([7, -7, 7, -7, 6, 0, 127], "int8"), np.array([2, 2, -2, -2, 3, 5, -128], "int8"))
UNSIGNED = (np.array([7, 200, 255], "uint8"), np.array([2, 3, 255], "uint8"))
FLOATS = (np.array([7.5, -7.5, 7.5, -7.5, 6.0, -0.75]), np.array([2.0, 2.0, -2.0, -2.0, 3.0, 0.5]))
INDEX = values.iterator("i", "i")


@pytest.mark.parametrize("columns", [INTEGERS, UNSIGNED, FLOATS], ids=["signed", "unsigned", "floats"])
def test_quotients_and_remainders_are_numpys(columns: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_array_equal(computed(functions.floor_divide, *columns), np.floor_divide(*columns))
    np.testing.assert_array_equal(computed(functions.modulo, *columns), np.mod(*columns))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_quotients_of_floats_at_their_edges(dtype: str) -> None:
    rng, largest = np.random.default_rng(7), 2.0 ** {"float16": 10, "float32": 23, "float64": 52}[dtype]
    left = np.array([largest + 1, -largest - 1, 1.0, -1.0, 0.0, -0.0, -4.0, 4.0, np.inf, 1.0, *rng.normal(0, 900, 60)])
    right = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 2.0, 2.0, -2.0, 2.0, np.inf, *rng.normal(0, 3, 60)])
    columns = left.astype(dtype), right.astype(dtype)
    with np.errstate(all="ignore"):
        for function, numpys in ((functions.floor_divide, np.floor_divide), (functions.modulo, np.mod)):
            found, expected = computed(function, *columns), numpys(*columns)
            np.testing.assert_array_equal(found, expected)
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


def test_truth_values_are_divided_as_numpys_bytes() -> None:
    left, right = np.array([True, False]), np.array([True, True])
    for function, numpys in ((functions.floor_divide, np.floor_divide), (functions.modulo, np.mod)):
        found, expected = computed(function, left, right), numpys(left, right)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_quotients_and_remainders_as_c_has_them() -> None:
    np.testing.assert_array_equal(computed(functions.truncated_remainder, *INTEGERS), np.fmod(*INTEGERS))
    np.testing.assert_array_equal(computed(functions.truncated_quotient, *INTEGERS),
                                  np.trunc(INTEGERS[0] / INTEGERS[1]))


@pytest.mark.parametrize("divisor", [3, -3])
def test_quotients_by_a_constant_stay_affine(divisor: int) -> None:
    quotient = functions.floor_divide(INDEX, values.number(divisor)).affine
    remainder = functions.modulo(INDEX, values.number(divisor)).affine
    assert quotient is not None
    assert remainder is not None
    for i in range(-7, 8):
        at = isl.Set(f"[i] -> {{ : i = {i} }}")
        for found, expected in ((quotient, i // divisor), (remainder, i % divisor)):
            assert found.intersect_params(at).is_equal(isl.PwAff(f"{{ [({expected})] }}").intersect_params(at))


def test_constants_are_computed_now() -> None:
    assert values.constant_of(functions.floor_divide(values.number(-7), values.number(2))) == -4
    assert values.constant_of(functions.modulo(values.number(-7), values.number(2))) == 1
    assert values.constant_of(functions.power(values.number(3), values.number(5))) == 243
    with pytest.raises(CannotExpress, match="complex"):
        functions.power(values.number(-2.0), values.number(0.5))


@pytest.mark.parametrize("exponent", [0, 1, 2, 4, 2.0, 0.5, 3.5])
def test_powers_of_floats(exponent: float) -> None:
    column = np.array([0.0, 0.5, 2.0, 3.25])
    found = computed(lambda x: functions.power(x, values.number(exponent)), column)
    np.testing.assert_allclose(found, column ** exponent, rtol=1e-15)


def test_powers_of_integers_wrap_or_are_refused() -> None:
    column = np.array([-3, 0, 11], "int8")
    np.testing.assert_array_equal(computed(lambda x: functions.power(x, values.number(3)), column), column ** 3)
    with pytest.raises(CannotExpress, match="whose exponent is not a small constant"):
        computed(lambda x: functions.power(x, values.number(9)), column)


def test_absolute_values_wrap_as_numpys() -> None:
    for column in (np.array([-128, -1, 0, 5], "int8"), np.array([0, 255], "uint8"), np.array([-1.5, -0.0, np.nan])):
        np.testing.assert_array_equal(computed(functions.absolute, column), np.abs(column))
    assert functions.absolute(INDEX).affine.is_equal(isl.PwAff("[i] -> { [(i)] : i >= 0; [(-i)] : i < 0 }"))


@pytest.mark.parametrize(("op", "ufunc"), [("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor)])
def test_bits_are_numpys(op: str, ufunc: np.ufunc) -> None:
    for left, right in (INTEGERS, UNSIGNED, (np.array([True, True, False]), np.array([True, False, False]))):
        np.testing.assert_array_equal(computed(lambda x, y: functions.bitwise(op, x, y), left, right),
                                      ufunc(left, right))


def test_shifts_of_iterators_stay_affine_and_others_do_not() -> None:
    assert functions.bitwise("<<", INDEX, values.number(3)).affine.is_equal(isl.PwAff("[i] -> { [(8i)] }"))
    assert functions.bitwise(">>", INDEX, values.number(1)).affine.is_equal(isl.PwAff("[i] -> { [(floor((i)/2))] }"))
    column = np.array([-128, -1, 77], "int8")
    np.testing.assert_array_equal(computed(lambda x: functions.bitwise(">>", x, values.number(2)), column), column >> 2)
    with pytest.raises(CannotExpress, match="a shift of booleans"):
        computed(lambda x: functions.bitwise("<<", x, x), np.array([True]))
    with pytest.raises(CannotExpress, match="`&` of floating-point values"):
        computed(lambda x: functions.bitwise("&", x, x), np.array([1.0]))


def test_inversion() -> None:
    for column in (*INTEGERS, *UNSIGNED, np.array([True, False])):
        np.testing.assert_array_equal(computed(functions.invert, column), ~column)
    assert functions.invert(INDEX).affine.is_equal(isl.PwAff("[i] -> { [(-1 - i)] }"))


@pytest.mark.parametrize(("name", "ufunc"), [("arctan2", np.arctan2), ("hypot", np.hypot), ("fmod", np.fmod)])
def test_calls_have_numpys_names(name: str, ufunc: np.ufunc) -> None:
    found = computed(lambda x, y: functions.call(name, (x, y)), *FLOATS)
    np.testing.assert_allclose(found, ufunc(*FLOATS), rtol=1e-15)


def test_calls_are_made_in_the_arguments_type() -> None:
    column = np.array([0.25, 2.0], "float32")
    found = computed(lambda x: functions.call("exp", (x,)), column)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.exp(column), rtol=2e-7)
    with pytest.raises(CannotExpress, match=r"gamma is no function of math\.h"):
        functions.call("gamma", (INDEX,))
    with pytest.raises(CannotExpress, match="exp takes 1 argument, not 2"):
        functions.call("exp", (INDEX, INDEX))


@pytest.mark.parametrize(("dtype", "sign", "text"), [
    (FLOAT32, -1, "-inf"), (INT32, -1, "-2147483648"), (INT8, 1, "127"), (UINT8, -1, "0"), (BOOL, 1, "1")])
def test_neutral_elements_of_extrema(dtype: object, sign: int, text: str) -> None:
    found = computed(lambda x: values.Value(functions.infinity(dtype, sign), dtype), np.zeros(1, "int8"))
    assert float(found[0]) == float(text)
