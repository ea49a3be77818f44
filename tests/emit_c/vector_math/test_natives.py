"""Functions that processors have an instruction for: which these are, and the text for each processor."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from polysched.emit_c.vector_math.natives import (
    LANEWISE,
    NATIVES,
    has_avx_form,
    lanewise_definition,
    native_definition,
    native_parameters,
    native_program,
)
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from tests.emit_c.compiled import load


@pytest.mark.parametrize("name", sorted(NATIVES))
def test_a_native_function_works_lane_by_lane_or_has_a_program(name: str) -> None:
    for dtype in (FLOAT32, FLOAT64):
        program = native_program(name, dtype)
        assert (program is None) is (name in LANEWISE)
        assert "{" not in (program or "")
    assert native_parameters(name) in (("x",), ("x", "y"))


def test_scaling_needs_avx_512() -> None:
    assert not has_avx_form("scale")
    assert {name for name in NATIVES if not has_avx_form(name)} == {"scale"}


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
@pytest.mark.parametrize("name", sorted(NATIVES))
def test_conditions_are_closed_and_in_order(name: str, dtype: DType) -> None:
    head = f"m({', '.join(['R', *(f'{p}_' for p in native_parameters(name))])})"
    lines = native_definition(name, head, dtype, ["#define other"], "wide(R, x_)" if has_avx_form(name) else None)
    directives = [line.split()[0] for line in lines if re.match(r"#(if|elif|else|endif)", line)]
    assert directives[0] == "#if"
    assert directives[-2:] == ["#else", "#endif"]
    assert set(directives[1:-2]) <= {"#elif"}
    assert ("__AVX__" in "".join(lines)) is has_avx_form(name)
    assert ("__builtin_elementwise_" in "".join(lines)) is (name in LANEWISE)
    kind = "ps" if dtype == FLOAT32 else "pd"
    assert name == "nearest" or re.search(rf"\bv\w+{kind} ", lines[1])


def test_each_lane_is_called_for_its_own_value(tmp_path: Path) -> None:
    lines = lanewise_definition("floor", "m(R, x_)", FLOAT32)
    text = "\n".join(["typedef float v4 __attribute__((vector_size(16)));", *lines,
                      "void f(const float *x, float *y) { *(v4 *)y = m(v4, *(const v4 *)x); }\n"])
    y = (ctypes.c_float * 4)()
    (memory,) = [(ctypes.c_float * 4)(-1.5, 2.5, 3.0, -0.25)]
    load(text, tmp_path, strict=False, flags=("-O1", "-mno-avx")).f(memory, y)
    assert list(y) == [-2.0, 2.0, 3.0, -1.0]
