"""Sums of values times constants in the fewest operations."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence.reductions import find_reductions
from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.bodies.linear_combinations import collected
from polysched.scheduling.marks import LoopMark
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.emit_c.marked_trees import marked

LOOPS = (("i", LoopMark()), ("j", LoopMark(member=1, simd=True)))
FEWER = {
    "equal factors": ("0.1 * x[j] + 0.1 * y[j] + 0.1 * z[j] * x[j] + y[j + 1]",
                      "0.1 * (x[j] + y[j] + z[j] * x[j]) + y[j + 1]"),
    "a diffusion step": ("0.125 * (x[j] - 2 * y[j] + z[j]) + 0.125 * (x[j + 1] - 2.0 * y[j] + z[j + 1]) + y[j]",
                         "0.125 * (x[j] + z[j] + (x[j + 1] + z[j + 1])) + 0.5 * y[j]"),
    "what is subtracted": ("0.5 * (z[j] - x[j]) - 0.5 * (x[j + 1] - z[j + 1]) + y[j]",
                           "0.5 * (z[j] + z[j + 1] - (x[j] + x[j + 1])) + y[j]"),
    "inside of a product": ("x[j] * (y[j] + 3.0 * z[j] - 2.0 * z[j])", "x[j] * (y[j] + z[j])"),
    "integers and constants": ("0.5 * n + 0.25 * (x[j] + 2) + 0.25 * (y[j] + 1) + x[j]",
                               "0.75 + (0.25 * y[j] + (1.25 * x[j] + 0.5 * (double)n))"),
}
SAME = {
    "as few": "0.2 * (x[j] + y[j] + z[j])",
    "fused as well": "0.1 * x[j] + 0.1 * y[j]",
    "nothing constant": "x[j] * y[j] + x[j] * z[j]",
    "cancelled": "0.5 * x[j] + 0.5 * y[j] - 0.5 * x[j] + z[j]",
    "integers": "2 * k[j] + 2 * k[j + 1] + 2 * k[j + 2]",
    "a constant that is no number": "1e300 * (1e300 + x[j]) + 1e300 * (y[j] + 1e300) + z[j]",
    "no number": "1e300 * (1e300 * x[j] + 1e300 * y[j]) + 1e300 * (1e300 * z[j])",
}


def program(value: str, element: str = "double", op: str = "=") -> str:
    heads = ", ".join(f"const {element} {name}[m + 2]" for name in "xyz")
    return (f"void f(int n, int m, {element} a[n][m], {heads}, const int k[m + 2]) {{\n#pragma scop\n"
            f"  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++)\n      a[i][j] {op} {value};\n"
            "#pragma endscop\n}\n")


def _text(text: str, *, reassociate: bool = True, vector_bits: int = 0) -> str:
    source = emit(marked(from_c_text(text), LOOPS), options=EmitOptions(
        vector_bits=vector_bits, reassociate=reassociate))
    return splice(text, [source])


@pytest.mark.parametrize("name", FEWER)
def test_fewer_operations(name: str) -> None:
    before, after = FEWER[name]
    assert f"a[i][j] = {after};" in _text(program(before)), _text(program(before))
    assert _text(program(before), reassociate=False).count("0.5 *") == before.count("0.5 *")


@pytest.mark.parametrize("name", SAME)
def test_what_saves_nothing_stays(name: str) -> None:
    scop = from_c_text(program(SAME[name]))
    assert collected(scop, but=()) is scop


def test_reductions_stay() -> None:
    text = program("0.1 * x[j] + 0.1 * y[j] + 0.1 * z[j] + x[j + 1]").replace("a[i][j] =", "a[i][0] +=")
    scop = from_c_text(text)
    reductions = {r.statement for r in find_reductions(scop)}
    assert reductions
    assert collected(scop, but=reductions) is scop


def test_floats_keep_their_type() -> None:
    value = "0.1f * x[j] + 0.1f * (y[j] - 2 * x[j]) + 0.1f * (z[j] - 2 * x[j]) + x[j]"
    assert "3.0e300" in _text(program(value.replace("+ x[j]", "+ (float)3.0e300 * x[j]"), "float"))
    text = _text(program(value, "float"))
    assert "a[i][j] = 0.1f * (y[j] + z[j]) + 0.7f * x[j];" in text, text


@pytest.mark.parametrize("bits", [0, 256, 512])
@pytest.mark.parametrize("name", FEWER)
@pytest.mark.parametrize(("element", "dtype", "near"), [("float", np.float32, 1e-5), ("double", np.float64, 1e-13)])
def test_nearly_the_same_numbers(name: str, element: str, dtype: type, near: float, bits: int, tmp_path: Path) -> None:
    text = program(FEWER[name][0], element)
    original, ours = load(text, tmp_path).f, load(_text(text, vector_bits=bits), tmp_path).f
    for m in (1, 7, 8, 9, 15, 16, 17, 23, 25, 33):
        arrays = [np.random.default_rng(k).standard_normal(m + 2).astype(dtype) for k in range(3)]
        results = []
        for function in (original, ours):
            result, numbers = np.zeros((2, m), dtype), np.arange(m + 2, dtype=np.int32)
            function(2, m, *(ctypes.c_void_p(a.ctypes.data) for a in (result, *arrays, numbers)))
            results.append(result)
        np.testing.assert_allclose(results[1], results[0], rtol=near, atol=near)
