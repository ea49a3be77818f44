"""`//` and `%` of Python on numbers of any sign, as C."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.python_operators import python_call
from polysched.scop.body import Call, IteratorRef
from polysched.scop.dtypes import FLOAT64, INT32, DType
from tests.emit_c.compiled import load


def called(function: str, dtype: DType = INT32) -> tuple[str | None, HelperMacros]:
    macros = HelperMacros(TakenNames(used=frozenset(), visible=frozenset()))
    arguments = (IteratorRef("a", dtype), IteratorRef("b", dtype))
    found = python_call(Call(function, arguments, dtype), [CText("a"), CText("b")], macros)
    return None if found is None else found.code, macros


@pytest.mark.parametrize("function", ["floordiv", "floormod"])
def test_values_are_those_of_python(function: str, tmp_path: Path) -> None:
    text, macros = called(function)
    definitions = "\n".join(macros.definitions())
    f = load(f"{definitions}\nint f(int a, int b) {{ return {text}; }}\n", tmp_path).f
    for a in (-7, -6, -1, 0, 1, 6, 7, 2**31 - 1, -2**31):
        for b in (-3, -2, 2, 3, 7):
            expected = a // b if function == "floordiv" else a % b
            assert f(ctypes.c_int(a), ctypes.c_int(b)) == expected, (a, b)


@pytest.mark.parametrize(("function", "dtype"), [("sqrt", INT32), ("floordiv", FLOAT64)])
def test_other_calls_are_none_of_pythons_operators(function: str, dtype: DType) -> None:
    text, macros = called(function, dtype)
    assert text is None
    assert macros.definitions() == []
