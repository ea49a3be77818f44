"""Values compute what NumPy computes, and carry the affine form and the condition that they say."""

from collections.abc import Callable

import islpy as isl
import numpy as np
import pytest

from polysched.scop.body import Literal
from polysched.scop.construction import values
from polysched.scop.construction.values import CannotExpress, Value
from polysched.scop.dtypes import BOOL, BY_NAME, FLOAT16, FLOAT32, FLOAT64, INT8, INT32, INT64, UINT64
from tests.scop.construction.elementwise import computed

BYTES = (np.array([-128, -1, 0, 7, 127, 100], "int8"), np.array([-1, -128, 5, 7, 127, -100], "int8"))
UNLIKE = (np.array([-128, -1, 0, 127], "int8"), np.array([200, 1, 65535, 3], "uint16"))
FLOATS = (np.array([1.5, -0.0, np.nan, 3.25], "float32"), np.array([-2.0, 0.0, 1.0, np.nan], "float32"))
INDEX, N = values.iterator("i", "i"), values.parameter("n")


@pytest.mark.parametrize("op", ["+", "-", "*"])
@pytest.mark.parametrize("columns", [BYTES, UNLIKE, FLOATS], ids=["bytes", "unlike", "floats"])
def test_arithmetic_is_numpys(op: str, columns: tuple[np.ndarray, np.ndarray]) -> None:
    expected = {"+": np.add, "-": np.subtract, "*": np.multiply}[op](*columns)
    found = computed(lambda x, y: values.arithmetic(op, x, y), *columns)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("op", "ufunc"), [("<", np.less), ("<=", np.less_equal), (">", np.greater),
                                           (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal)])
def test_comparisons_are_numpys(op: str, ufunc: Callable[..., np.ndarray]) -> None:
    for columns in (BYTES, UNLIKE, FLOATS):
        np.testing.assert_array_equal(computed(lambda x, y: values.compare(op, x, y), *columns), ufunc(*columns))


def test_integers_divide_as_doubles() -> None:
    left, right = np.array([7, -7, 1], "int8"), np.array([2, 2, 3], "int8")
    found = computed(values.divide, left, right)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, left.astype("float64") / right)


def test_a_python_number_takes_the_type_that_it_meets() -> None:
    column = BYTES[0]
    found = computed(lambda x: values.arithmetic("+", x, values.number(1)), column)
    np.testing.assert_array_equal(found, column + 1)
    assert found.dtype == column.dtype
    with pytest.raises(CannotExpress, match="the Python integer 300 does not fit int8"):
        computed(lambda x: values.arithmetic("+", x, values.number(300)), column)


@pytest.mark.parametrize("propagate", [False, True])
def test_extrema_and_what_is_no_number(propagate: bool) -> None:
    left, right = FLOATS
    found = computed(lambda x, y: values.extremum("max", x, y, propagate_nan=propagate), left, right)
    expected = np.maximum(left, right) if propagate else [y if y > x else x for x, y in zip(left, right, strict=True)]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "bool", "float32"])
def test_casts_are_astype(dtype: str) -> None:
    column = np.array([0, 1, -1, 127, -128], "int16")
    np.testing.assert_array_equal(computed(lambda x: values.cast(x, BY_NAME[dtype]), column), column.astype(dtype))


@pytest.mark.parametrize(("value", "affine"), [
    (values.arithmetic("-", values.arithmetic("*", values.number(2), INDEX), N), "[i, n] -> { [(2i - n)] }"),
    (values.negate(INDEX), "[i] -> { [(-i)] }"),
    (values.extremum("min", INDEX, N), "[i, n] -> { [(i)] : i <= n; [(n)] : i > n }"),
    (values.select(values.compare("<", INDEX, N), INDEX, values.number(0)),
     "[i, n] -> { [(i)] : i < n; [(0)] : i >= n }")])
def test_what_stays_affine(value: Value, affine: str) -> None:
    assert value.affine is not None
    assert value.affine.is_equal(isl.PwAff(affine))


def test_a_product_of_two_symbols_is_not_affine() -> None:
    assert values.arithmetic("*", INDEX, N).affine is None


@pytest.mark.parametrize(("value", "condition"), [
    (values.compare("<", INDEX, N), "[i, n] -> { : i < n }"),
    (values.logical("||", values.compare("<", INDEX, N), values.compare("==", INDEX, values.number(7))),
     "[i, n] -> { : i < n or i = 7 }"),
    (values.logical_not(values.compare(">=", INDEX, N)), "[i, n] -> { : i < n }"),
    (values.truth(INDEX), "[i] -> { : i != 0 }"),
    (values.number(False), "{ : 1 = 0 }")])
def test_conditions_are_exact(value: Value, condition: str) -> None:
    assert value.condition is not None
    assert value.condition.is_equal(isl.Set(condition))


def test_half_a_condition_is_necessary_in_a_conjunction_only() -> None:
    data = Value(Literal("1", 1, INT32), BOOL)
    bound = values.compare("<", INDEX, N)
    both, either = values.logical("&&", data, bound), values.logical("||", data, bound)
    assert both.condition is None
    assert both.necessary is not None
    assert both.necessary.is_equal(isl.Set("[i, n] -> { : i < n }"))
    assert either.necessary is None


def test_neutral_operands_leave_no_trace() -> None:
    assert values.arithmetic("+", INDEX, values.number(0)) is INDEX
    assert values.arithmetic("*", values.number(1), INDEX) is INDEX
    assert values.arithmetic("-", values.number(0), INDEX) is not INDEX
    assert values.constant_of(values.arithmetic("*", values.number(6), values.number(-7))) == -42


@pytest.mark.parametrize(("number", "dtype", "text"), [
    (7, INT64, "7"), (1 << 40, INT64, "1099511627776L"), (1 << 63, UINT64, "9223372036854775808ul")])
def test_spellings_of_integers(number: int, dtype: object, text: str) -> None:
    literal = values.integer_literal(number, dtype)
    assert isinstance(literal, Literal)
    assert literal.text == text


def test_the_least_integer_needs_no_literal_that_overflows() -> None:
    least = values.integer_literal(-(1 << 63), INT64)
    assert values.constant_of(Value(least, INT64)) is None
    found = computed(lambda x: Value(least, INT64), np.zeros(1, "int64"))
    assert found[0] == -(1 << 63)
    with pytest.raises(CannotExpress, match="does not fit int8"):
        values.integer_literal(128, INT8)


@pytest.mark.parametrize(("number", "dtype", "text"), [
    (0.1, FLOAT32, "0.1f"), (0.1, FLOAT64, "0.1"), (float("inf"), FLOAT32, "__builtin_inff()"),
    (float("nan"), FLOAT64, '__builtin_nan("")'), (1e30, FLOAT32, "1.0e+30f"), (1e39, FLOAT32, "__builtin_inff()")])
def test_spellings_of_floats(number: float, dtype: object, text: str) -> None:
    literal = values.float_literal(number, dtype)
    assert isinstance(literal, Literal)
    assert literal.text == text


def test_short_floats_are_rounded_once() -> None:
    column = np.array([1.0, 3.0, 1000.5], "float16")
    found = computed(lambda x: values.arithmetic("*", x, values.number(0.1)), column)
    np.testing.assert_array_equal(found, column * 0.1)
    assert values.float_literal(0.1, FLOAT16).dtype == FLOAT16


def test_booleans_are_numpys() -> None:
    left, right = np.array([True, True, False]), np.array([True, False, False])
    np.testing.assert_array_equal(computed(lambda x, y: values.arithmetic("+", x, y), left, right), left + right)
    np.testing.assert_array_equal(computed(lambda x, y: values.arithmetic("*", x, y), left, right), left * right)
    with pytest.raises(CannotExpress, match="no subtraction of booleans"):
        computed(lambda x, y: values.arithmetic("-", x, y), left, right)
    with pytest.raises(CannotExpress, match="no negation of booleans"):
        computed(values.negate, left)


@pytest.mark.parametrize("op", ["+", "*"])
def test_a_python_truth_value_meets_numpys(op: str) -> None:
    column = np.array([True, False])
    found = computed(lambda x: values.arithmetic(op, x, values.number(True)), column)
    expected = column + True if op == "+" else column * True
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    assert values.constant_of(values.arithmetic("+", values.number(True), values.number(True))) == 2
