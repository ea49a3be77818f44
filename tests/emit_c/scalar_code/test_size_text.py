"""Sizes as C: every function of the parameters that isl can print, without a macro."""

from __future__ import annotations

import ctypes
from pathlib import Path

import islpy as isl
import pytest

from polysched.emit_c.scalar_code.size_text import operand, size_text
from polysched.measure.processes.building import compile_shared
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters
from polysched.target import find_compiler

SCOP = from_c_text("void f(int n, int m, double A[n])\n{\n#pragma scop\n"
                   "  for (int i = 0; i < n; i++) A[i] = m;\n#pragma endscop\n}\n")
VALUES = ["2n - 3", "floor((n - m)/3) + 1", "n mod 5", "n - 3 * floor((2n + m)/4)"]
PIECES = ["[n, m] -> { [n] : n < m; [m] : n >= m }", "[n, m] -> { [n] : n > m + 2; [m + 2] : n <= m + 2 }",
          "[n, m] -> { [floor(n/2)] : n >= 4; [0] : n < 4 }",
          f"[n, m] -> {{ [n] : n + m < {2**64 + 1}; [m] : n + m >= {2**64 + 1} }}",   # no literal is as large as these
          f"[n, m] -> {{ [n] : m >= {-2**63}; [m] : m < {-2**63} }}"]


@pytest.mark.parametrize("text", [*(f"[n, m] -> {{ [{value}] }}" for value in VALUES), *PIECES])
def test_the_text_has_the_value(text: str, tmp_path: Path) -> None:
    value = isl.PwAff(text)
    source = f"__attribute__((visibility(\"default\"))) long f(int n, int m) {{ return {size_text(SCOP, value)}; }}\n"
    binary = compile_shared(source, name="size", folder=tmp_path, compiler=find_compiler(),
                            flags=("-O0", "-Wl,-z,defs"))
    function = ctypes.CDLL(str(binary.path)).f
    function.restype = ctypes.c_long
    for n in range(-7, 8):
        for m in (-4, 0, 3):
            at = fix_parameters(isl.Set.from_pw_aff(value), {"n": n, "m": m})
            assert function(n, m) == at.dim_max_val(0).to_python(), (n, m, source)


def test_choices_alone_need_parentheses_to_be_compared() -> None:
    assert operand("(long)n") == "(long)n"
    assert operand("n >= m ? m : n") == "(n >= m ? m : n)"
