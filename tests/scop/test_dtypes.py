"""Element types: widths and ranges, promotions and common types as C has them."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

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
    LONGDOUBLE,
    UINT8,
    UINT32,
    UINT64,
    DType,
    Kind,
    common_type,
    promote,
    usual_conversion,
)
from tests.emit_c.compiled import load


@pytest.mark.parametrize("name", [n for n in BY_NAME if n not in ("bfloat16", "longdouble")])
def test_numpy_has_the_same_width(name: str) -> None:
    assert np.dtype(name).itemsize == BY_NAME[name].bytes
    assert str(BY_NAME[name]) == name


@pytest.mark.parametrize(("dtype", "values"), [
    (BOOL, (0, 1)), (INT8, (-128, 127)), (UINT8, (0, 255)), (INT64, (-2**63, 2**63 - 1)), (UINT64, (0, 2**64 - 1))])
def test_ranges(dtype: DType, values: tuple[int, int]) -> None:
    assert dtype.value_range() == values


def test_floats_have_no_range_and_no_type_has_half_a_byte() -> None:
    with pytest.raises(ValueError, match="no integer range"):
        FLOAT32.value_range()
    with pytest.raises(ValueError, match="whole number of bytes"):
        DType("int4", "int4", Kind.SIGNED, 4)


def test_common_types_are_those_of_the_compiler(tmp_path: Path) -> None:
    """The size and the sign of `a + b`, and whether it is a float, for every pair of types."""
    types = [t for t in BY_NAME.values() if t not in (FLOAT16, BFLOAT16)]
    pairs = list(itertools.product(types, repeat=2))
    entries = ",\n".join(f"{{sizeof((({a.c_name})1) + ({b.c_name})1), "
                         f"(((__typeof__((({a.c_name})1) + ({b.c_name})1))-1) < 0), "
                         f"((__typeof__((({a.c_name})1) + ({b.c_name})1))0.5) != 0}}" for a, b in pairs)
    library = load(f"const int found[][3] = {{\n{entries}\n}};\nint at(int k, int n) {{ return found[k][n]; }}\n",
                   tmp_path, strict=False)
    for k, (a, b) in enumerate(pairs):
        common = usual_conversion(a, b)
        assert [library.at(k, n) for n in range(3)] == [
            common.bytes, int(common.is_signed), int(common.is_float)], (a, b)


@pytest.mark.parametrize(("left", "right", "common"), [
    (UINT8, INT8, INT32), (UINT32, INT64, INT64), (UINT32, INT32, UINT32), (UINT64, INT64, UINT64),
    (FLOAT16, BFLOAT16, FLOAT32), (FLOAT16, INT64, FLOAT16), (FLOAT64, LONGDOUBLE, LONGDOUBLE)])
def test_common_types(left: DType, right: DType, common: DType) -> None:
    assert usual_conversion(left, right) == usual_conversion(right, left) == common


def test_narrow_integers_become_int() -> None:
    assert [promote(t) for t in (BOOL, INT8, UINT8, INT32, UINT32, FLOAT16)] == [
        INT32, INT32, INT32, INT32, UINT32, FLOAT16]


def test_a_shift_has_the_type_of_its_left_operand() -> None:
    for op in ("<<", ">>"):
        assert common_type(op, INT8, UINT64) == common_type(op, INT32, UINT32) == INT32
    assert common_type("+", INT32, UINT32) == UINT32
