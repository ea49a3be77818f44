"""Whole functions for Scops without a C file: tensor expressions compiled and compared with NumPy."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, emit_function
from polysched.errors import UsageError
from polysched.scheduling import pluto
from polysched.scop.expression import build, compute, placeholder, scalar, symbols
from polysched.scop.expression.operators import matmul, softmax
from polysched.scop.scop import Scop
from polysched.target import host
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.schedules import pluto_of


def function(scop: Scop, *, sizes: int | str = 8) -> tuple[str, tuple[str, ...]]:
    tiled = tile(pluto(analyse(scop)), TilingOptions(sizes=sizes))  # type: ignore[arg-type]
    made = emit_function(tiled, name="run", options=EmitOptions(vector_bits=256))
    return made.text, tuple(p.name for p in made.signature.parameters)


def test_product_of_bytes(tmp_path: Path) -> None:
    rows, columns, inner = symbols("rows columns inner")
    a, b = placeholder("a", (rows, inner), "int8"), placeholder("b", (inner, columns), "uint8")
    text, order = function(build(matmul(a, b, accumulate="int32"), name="product"))
    rng = np.random.default_rng(1)
    x = rng.integers(-128, 128, (7, 19), dtype=np.int8)
    y = rng.integers(0, 256, (19, 33), dtype=np.uint8)
    out = np.empty((7, 33), np.int32)
    values = {"rows": ctypes.c_long(7), "columns": ctypes.c_long(33), "inner": ctypes.c_long(19),
              "a": ctypes.c_void_p(x.ctypes.data), "b": ctypes.c_void_p(y.ctypes.data)}
    load(text, tmp_path).run(*(values.get(name, ctypes.c_void_p(out.ctypes.data)) for name in order))
    assert np.array_equal(out, x.astype(np.int32) @ y.astype(np.int32)), text


def test_temporaries_are_allocated_and_math_functions_declared(tmp_path: Path) -> None:
    n, m = symbols("n m")
    x = placeholder("x", (n, m), "float64")
    text, order = function(build(softmax(x), name="softmax"), sizes="off")
    assert "double exp(double);" in text
    assert "aligned_alloc(64, " in text
    assert "free(" in text
    values = np.random.default_rng(2).standard_normal((5, 13))
    out = np.empty_like(values)
    places = {"n": ctypes.c_long(5), "m": ctypes.c_long(13), "x": ctypes.c_void_p(values.ctypes.data)}
    library = load(text, tmp_path)
    assert library.run(*(places.get(name, ctypes.c_void_p(out.ctypes.data)) for name in order)) == 0
    places["m"] = ctypes.c_long(1 << 52)  # rows are kept one per thread, however many there are
    assert library.run(*(places.get(name, ctypes.c_void_p(out.ctypes.data)) for name in order)) == 1, "no memory"
    shifted = np.exp(values - values.max(axis=1, keepdims=True))
    assert np.allclose(out, shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-14), text


def test_scalars_by_value_and_constants(tmp_path: Path) -> None:
    (n,) = symbols("n")
    x, alpha = placeholder("x", (n,), "float32"), scalar("alpha", "float32")
    text, order = function(build(compute((n,), lambda i: alpha * x[i], name="y"), name="scale"))
    assert "float alpha" in text
    assert "const float x[restrict " in text
    values, out = np.arange(21, dtype=np.float32), np.empty(21, np.float32)
    places = {"n": ctypes.c_long(21), "x": ctypes.c_void_p(values.ctypes.data), "alpha": ctypes.c_float(0.5)}
    load(text, tmp_path).run(*(places.get(name, ctypes.c_void_p(out.ctypes.data)) for name in order))
    assert np.array_equal(out, values / 2)


def test_a_name_that_c_does_not_allow_is_refused() -> None:
    (n,) = symbols("n")
    x = placeholder("x", (n,), "float32")
    schedule = pluto(analyse(build(compute((n,), lambda i: x[i] + 1.0, name="y"))))
    with pytest.raises(UsageError, match="cannot be the name of a C function"):
        emit_function(tile(schedule), name="a-b")



def test_emitting_takes_the_width_of_the_machine_that_the_tiles_are_for():
    text = """void f(int n, float c[n][n], float a[n][n], float b[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
    wide = replace(host(), vector_bits=512)
    tiled = tile(pluto_of(text), TilingOptions(target=wide))
    assert "vector_size(64)" in emit(tiled).text
    assert "vector_size(64)" in emit_function(tiled, name="f").text
    assert "vector_size" not in emit(tiled, options=EmitOptions(vector_bits=0)).text
    assert EmitOptions().vector_bits == host().vector_bits


def test_parameters_are_declared_as_every_compiler_reads_them(tmp_path: Path) -> None:
    """gcc 12 has no `__bf16`: what calls the function declares its parameters by the signature."""
    x = placeholder("x", (8,), "bfloat16")
    tiled = tile(pluto(analyse(build(compute((8,), lambda i: x[i], name="y"), name="copy"))), TilingOptions())
    made = emit_function(tiled, name="copy", options=EmitOptions(vector_bits=256))
    declared = ", ".join(p.c_declaration for p in made.signature.parameters)
    passed = ", ".join(p.name for p in made.signature.parameters)
    out, bits = np.zeros(8, np.uint16), np.arange(8, dtype=np.uint16)
    places = {"x": ctypes.c_void_p(bits.ctypes.data), "y": ctypes.c_void_p(out.ctypes.data)}
    library = load(f"{made.text}void twice({declared}) {{ copy({passed}); }}\n", tmp_path)
    library.twice(*(places[p.name] for p in made.signature.parameters))
    assert np.array_equal(out, bits)
