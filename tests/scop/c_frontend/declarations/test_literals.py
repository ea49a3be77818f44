"""Constants of C: the first type of the standard's list that holds the value, and the value itself."""

from __future__ import annotations

import pytest
from pycparser import c_ast

from polysched.scop.c_frontend.declarations.literals import integer_constant, literal
from polysched.scop.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, LONGDOUBLE, UINT32, UINT64, DType


@pytest.mark.parametrize(("text", "value", "dtype"), [
    ("0", 0, INT32), ("2147483647", 2**31 - 1, INT32), ("2147483648", 2**31, INT64),
    ("0x7fffffff", 2**31 - 1, INT32), ("0x80000000", 2**31, UINT32), ("0xFFFFFFFFFF", 2**40 - 1, INT64),
    ("0xFFFFFFFFFFFFFFFF", 2**64 - 1, UINT64),
    ("017", 15, INT32), ("0b101", 5, INT32), ("1u", 1, UINT32), ("4294967296u", 2**32, UINT64), ("1l", 1, INT64),
    ("1ULL", 1, UINT64), ("1'000", 1000, INT32),
    ("1.5", 1.5, FLOAT64), ("1.5f", 1.5, FLOAT32), ("1e3L", 1000.0, LONGDOUBLE), (".5F", 0.5, FLOAT32),
    ("0x1.8p1", 3.0, FLOAT64), ("1.0f16", 1.0, FLOAT16),
    ("'a'", 97, INT32), (r"'\n'", 10, INT32), (r"'\xff'", -1, INT32), (r"'\''", 39, INT32),
])
def test_type_and_value(text: str, value: float, dtype: DType) -> None:
    found = literal(text)
    assert found is not None
    assert (found.value, found.dtype) == (value, dtype)


@pytest.mark.parametrize("text", ['"text"', "99999999999999999999", "'ab'", "x", "1.5.5q", "L'a'", "''"])
def test_no_constant_of_a_number(text: str) -> None:
    assert literal(text) is None


@pytest.mark.parametrize(("text", "value"), [("017", 15), ("3u", 3), ("'a'", 97), ("1.5", None), ('"text"', None)])
def test_integers(text: str, value: int | None) -> None:
    assert integer_constant(c_ast.Constant("", text)) == value


def test_other_nodes_are_no_integers() -> None:
    assert integer_constant(None) is integer_constant(c_ast.ID("n")) is None
