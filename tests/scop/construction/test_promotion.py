"""Result types against NumPy itself."""

import itertools

import numpy as np
import pytest

from polysched.scop.construction.promotion import (
    computation_type,
    from_numpy,
    function_type,
    promote_types,
    result_type,
    sum_type,
    to_numpy,
)
from polysched.scop.dtypes import (
    BFLOAT16,
    BOOL,
    BY_NAME,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
)

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
         "float64"]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(NAMES, NAMES)))
def test_two_types_meet_as_in_numpy(left: str, right: str) -> None:
    assert promote_types(BY_NAME[left], BY_NAME[right]).name == np.promote_types(left, right).name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [True, 1, 1.0])
def test_python_numbers_are_weak(name: str, number: float) -> None:
    weak = {bool: BOOL, int: INT64, float: FLOAT64}[type(number)]
    expected = np.result_type(np.zeros(1, name), number).name
    assert result_type(BY_NAME[name], False, weak, True)[0].name == expected
    assert result_type(weak, True, BY_NAME[name], False) == (BY_NAME[expected], False)


def test_two_python_numbers_stay_weak() -> None:
    assert result_type(INT64, True, FLOAT64, True) == (FLOAT64, True)
    assert result_type(BOOL, True, INT64, True) == (INT64, True)
    assert result_type(BOOL, True, BOOL, True) == (BOOL, True)


def test_bfloat16_follows_float16() -> None:
    assert promote_types(BFLOAT16, INT8) == BFLOAT16
    assert promote_types(BFLOAT16, FLOAT16) == FLOAT32
    assert promote_types(BFLOAT16, INT32) == promote_types(FLOAT16, INT32) == FLOAT64
    with pytest.raises(ValueError, match="NumPy has no bfloat16"):
        to_numpy(BFLOAT16)


@pytest.mark.parametrize("name", NAMES)
def test_sums_and_functions(name: str) -> None:
    assert sum_type(BY_NAME[name]).name == np.zeros(1, name).sum().dtype.name
    with np.errstate(all="ignore"):
        assert function_type("sqrt", BY_NAME[name], False).name == np.sqrt(np.ones(1, name)).dtype.name


def test_numpy_types_without_a_counterpart() -> None:
    assert from_numpy(np.dtype("complex64")) is None
    assert from_numpy(np.dtype(">f4")) is None
    assert from_numpy(np.dtype("object")) is None
    assert from_numpy(np.dtype("float32")) == FLOAT32


def test_where_short_types_are_computed() -> None:
    assert computation_type(FLOAT16, "+") == computation_type(BFLOAT16, "*") == FLOAT32
    assert computation_type(INT8, "*") == computation_type(UINT8, "+") == INT32
    assert computation_type(UINT16, "*") == UINT32
    assert computation_type(FLOAT64, "*") == FLOAT64
