"""Values as TVMScript, with the conversions of C."""

import pytest

from polysched.emit_c.tir.expressions import Values, literal
from polysched.errors import UnsupportedScopError
from polysched.scop.body import Assign
from polysched.scop.dtypes import BOOL, FLOAT32, INT32, UINT64
from tests.emit_c.mlir.test_affine_function import scop_of


def written(declarations: str, line: str) -> str:
    (statement,) = scop_of(declarations, line).statements
    item = statement.body[0]
    assert isinstance(item, Assign)
    return Values(statement, (), lambda reference: statement.access(reference).array).converted(item.value, item.dtype)


@pytest.mark.parametrize(("declarations", "line", "text"), [
    ("float a[1], float b[1]", "a[0] = -b[0] / 2;", '((b * T.float32(-1.0)) / T.Cast("float32", T.int32(2)))'),
    ("int a[1], int b[1]", "a[0] = b[0] / 3 % 2;", "T.truncmod(T.truncdiv(b, T.int32(3)), T.int32(2))"),
    ("int a[1], float b[1]", "a[0] = b[0] > 1.5f && !(b[0] > 3);",
     'T.Cast("int32", T.And((b > T.float32(1.5)), T.Not((b > T.Cast("float32", T.int32(3))))))'),
    ("double a[1], double b[1]", "a[0] = b[0] < 0 ? sqrt(b[0]) : ~3;",
     'T.if_then_else((b < T.Cast("float64", T.int32(0))), T.sqrt(b), T.Cast("float64", (T.int32(3) ^ T.int32(-1))))'),
    ("unsigned a[1], unsigned b[1]", "a[0] = ~b[0] / 3u;", "T.truncdiv((b ^ T.uint32(4294967295)), T.uint32(3))"),
    ("signed char a[1], int b[1]", "a[0] = b[0] << 2;", 'T.Cast("int8", (b << T.int32(2)))'),
])
def test_expressions(declarations: str, line: str, text: str) -> None:
    assert written(declarations, line) == text


@pytest.mark.parametrize("line", ["a[0] = -b[0];", "a[0] = b[0] + 1;", "a[0] = b[0] << 1;"])
def test_unsigned_numbers_that_may_wrap_are_refused(line: str) -> None:
    with pytest.raises(UnsupportedScopError, match=r"takes it not to wrap\n  witness: (-|\+|<<) of unsigned int"):
        written("unsigned a[1], unsigned b[1]", line)


def test_literals() -> None:
    assert literal(1, FLOAT32) == "T.float32(1.0)"
    assert literal(float("inf"), FLOAT32) == 'T.float32("inf")'
    assert literal(-3, INT32) == "T.int32(-3)"
    with pytest.raises(UnsupportedScopError, match="constants in 64 bits with a sign\n  witness: 9223372036854775808"):
        literal(1 << 63, UINT64)
    assert literal(1, BOOL) == "T.bool(True)"
