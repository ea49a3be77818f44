"""Square blocks transposed in registers between rows of memory and vectors across them."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.turned_copies import Squares, TurnedCopy
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from tests.emit_c.compiled import load


def copy(dtype: DType, rows: int, columns: int, lanes: int) -> tuple[TurnedCopy, VectorTypes]:
    types = VectorTypes(TakenNames(used=frozenset(), visible=frozenset()))
    squares = Squares(dtype=dtype, rows=rows, columns=columns, lanes=lanes, types=types, fresh=lambda wish: f"{wish}_")
    return TurnedCopy(name="cut", rows_name="rows", squares=squares), types


@pytest.mark.parametrize(("dtype", "rows", "columns", "lanes"), [
    (FLOAT32, 4, 4, 4), (FLOAT32, 8, 4, 4), (FLOAT32, 12, 8, 4), (FLOAT64, 4, 8, 2), (FLOAT32, 8, 16, 8)])
def test_there_and_back(dtype: DType, rows: int, columns: int, lanes: int, tmp_path: Path) -> None:
    turned, types = copy(dtype, rows, columns, lanes)
    kind, there, back = dtype.c_name, turned.into_lanes(), turned.into_rows()
    text = "\n".join([
        *types.declarations.values(), f"void f({kind} in[{columns}][{rows}], {kind} across[{rows}][{columns}],"
        f" {kind} out[{columns}][{rows}]) {{", *turned.declarations(),
        "__builtin_memcpy(rows, in, sizeof rows);", *there,
        "__builtin_memcpy(across, cut, sizeof cut);", "__builtin_memset(rows, 0, sizeof rows);", *back,
        "__builtin_memcpy(out, rows, sizeof rows);", "}\n"])
    given = np.arange(columns * rows, dtype=dtype.name).reshape(columns, rows)
    across, out = np.zeros((rows, columns), dtype.name), np.zeros((columns, rows), dtype.name)
    load(text, tmp_path, strict=False).f(*(ctypes.c_void_p(a.ctypes.data) for a in (given, across, out)))
    np.testing.assert_array_equal(across, given.T)
    np.testing.assert_array_equal(out, given)


def test_rows_behind_the_last_are_read_and_not_written() -> None:
    turned, _ = copy(FLOAT32, 6, 8, 4)
    assert any("if (row_ + n_ < 6) " in line for line in turned.into_lanes())
    whole, _ = copy(FLOAT32, 8, 8, 4)
    assert not any("if (" in line for line in whole.into_lanes())
    with pytest.raises(AssertionError, match="whole vectors"):
        turned.into_rows()
