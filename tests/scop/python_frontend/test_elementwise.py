"""Every elementwise function that a kernel may call, beside itself in NumPy or Python, in every element type."""

import builtins
import inspect
import math
from typing import Any

import numpy as np
import pytest

from polysched.scop.construction import values
from polysched.scop.construction.values import CannotExpress
from polysched.scop.python_frontend.elementwise import ELEMENTWISE, SCALAR
from tests.scop.construction.elementwise import computed

COLUMNS = {
    "bool": np.array([True, False, True]), "int8": np.array([-128, -3, 0, 1, 5, 127], "int8"),
    "uint8": np.array([0, 1, 7, 200, 255], "uint8"), "int32": np.array([-(2 ** 31), -2, 0, 3, 2 ** 31 - 1], "int32"),
    "int64": np.array([-5, 0, 2, 1 << 40]), "float16": np.array([-2.5, 0.0, 0.5, 3.0], "float16"),
    "float32": np.array([-1.5, -0.0, 0.25, 2.5, np.nan, np.inf], "float32"),
    "float64": np.array([-0.5, 0.0, 1.0, 7.25, np.nan, -np.inf])}
SECOND = {name: column[::-1].copy() for name, column in COLUMNS.items()}
ULPS = {"float16": 1e-3, "float32": 5e-7, "float64": 1e-14}
DIVISIONS = (np.floor_divide, np.mod, np.fmod, np.reciprocal)
NUMPYS = [f for f in ELEMENTWISE if f not in (builtins.abs, builtins.pow)]


def count(function: Any) -> int:
    return function.nin if isinstance(function, np.ufunc) else 3 if function in (np.clip, np.where) else len(
        [p for p in inspect.signature(function).parameters.values() if p.default is p.empty])


@pytest.mark.parametrize("dtype", COLUMNS)
@pytest.mark.parametrize("function", NUMPYS, ids=lambda f: f.__name__)
def test_what_a_kernel_computes_is_numpys(function: Any, dtype: str) -> None:
    first, second = COLUMNS[dtype], SECOND[dtype]
    columns = (first, second, first[len(first) // 2] + np.zeros_like(first))[:count(function)]
    if function is np.where:
        columns = (first > second, first, second)
    if function in (np.left_shift, np.right_shift) and dtype != "bool":
        columns = (first, np.full_like(first, 3))
    if function in DIVISIONS and first.dtype.kind in "biu":   # C leaves a quotient by 0 undefined
        columns = tuple(np.where(c == 0, 1, c).astype(first.dtype) for c in columns)
    with np.errstate(all="ignore"):
        try:
            expected = function(*columns)
        except (TypeError, ValueError):
            with pytest.raises(CannotExpress):
                computed(ELEMENTWISE[function], *columns)
            return
    try:
        found = computed(ELEMENTWISE[function], *columns)
    except CannotExpress:
        return   # refused in words: the functions' own tests name them
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=ULPS.get(found.dtype.name, 0))
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[found == 0]))


@pytest.mark.parametrize("function", [f for f in SCALAR if getattr(f, "__module__", "") == "math"],
                         ids=lambda f: f.__name__)
def test_functions_of_the_module_math(function: Any) -> None:
    arguments = [0.25, 0.5]
    for wanted in (1, 2):
        if wanted == 1 and function is math.hypot:
            continue   # math.hypot takes any number of arguments, hypot two
        try:
            expected = function(*arguments[:wanted])
        except TypeError:
            continue
        except ValueError:   # acosh is not defined there
            arguments = [1.25, 1.5]
            expected = function(*arguments[:wanted])
        columns = [np.array([a]) for a in arguments[:wanted]]
        if wanted == 2 and function is math.log:
            continue   # math.log(x, base) is refused
        np.testing.assert_allclose(computed(SCALAR[function], *columns), [expected], rtol=1e-15)


@pytest.mark.parametrize("number", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 7.0])
def test_conversions_to_int_are_pythons(number: float) -> None:
    column = np.array([number])
    for function in (builtins.int, builtins.round, math.floor, math.ceil, math.trunc):
        assert int(computed(SCALAR[function], column)[0]) == function(number)
    assert bool(computed(SCALAR[builtins.bool], column)[0]) is bool(number)
    assert SCALAR[builtins.int](values.iterator("i", "i")).affine is not None, "an index stays one"
