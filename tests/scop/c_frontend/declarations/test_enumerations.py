"""The type of an enumeration's objects, which decides what a comparison with zero or a conversion gives."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

TYPES = {
    "enum v { A = -5, B = 7 };": "int32",
    "enum v { A, B };": "uint32",
    "enum v { A = 3, B = A - 4 };": "int32",
    "enum v { A = ~0 };": "int32",
    "enum v { A = (1 << 3) | 2, B = A / 3 };": "uint32",
    "enum u { N = 4 }; enum v { A = -N };": "int32",
    "enum u { M = -2, N }; enum v { A = N * 2, B };": "int32",
    "enum v { A = 'a' - 'b' };": "int32",
    "enum v { A = 0xffffffffu };": "uint32",
}


def program(declaration: str, element: str = "enum v") -> str:
    return (f"{declaration}\nvoid f(int n, {element} e[n], double d[n]) {{\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    d[i] = e[i] < 0 ? e[i] * 0.5 : 1.0;\n#pragma endscop\n}\n")


@pytest.mark.parametrize(("declaration", "dtype"), TYPES.items())
def test_the_type_is_that_of_the_compiler(declaration: str, dtype: str, tmp_path: Path) -> None:
    assert from_c_text(program(declaration)).array("e").dtype.name == dtype
    signed = load(f"{declaration}\nint f(void) {{ return (enum v)-1 < 0; }}\n", tmp_path, strict=False).f
    signed.restype = ctypes.c_int
    assert signed() == (dtype == "int32")


def test_a_name_for_an_enumeration() -> None:
    assert from_c_text(program("typedef enum { A = -1 } v;", "v")).array("e").dtype.name == "int32"
    assert from_c_text(program("enum t { A = -1 }; typedef enum t v;", "v")).array("e").dtype.name == "int32"


@pytest.mark.parametrize("declaration", ["enum v;", "enum v { A = sizeof(int) };",
                                         "enum v { A = 1L << 40 };"])
def test_an_enumeration_of_unknown_values_is_refused(declaration: str) -> None:
    with pytest.raises(UnsupportedScopError, match="enum v"):
        from_c_text(program(declaration))


def test_constants_are_no_parameters_wherever_they_are_declared() -> None:
    scop = from_c_text("""
enum { M = 5 };
void f(int k, double a[M][20]) {
    enum { N = 4 * M };
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = k; j < N; j++)
            a[i][j] = N;
#pragma endscop
}
""")
    assert [p.name for p in scop.parameters] == ["k"]
    assert scop.statements[0].domain.is_equal(isl.Set("[k] -> { S0[i, j] : 0 <= i < 5 and k <= j < 20 }"))
