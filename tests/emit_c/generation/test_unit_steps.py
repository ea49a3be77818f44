"""Loops with steps are counted by one, and are rows like any other then."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.loop_ir.index import source_operation, variable
from polysched.scheduling import pluto
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load

BODIES = {   # the loop, and what tells that it is counted by one
    "for (int i = 0; i < 3 * n; i += 3)\n    for (int k = 0; k < 9; k++)\n      y[i / 3] += x[k] * z[i + k];":
        "y_4 += x[k] * z_1",
    "for (int i = 3 * n - 3; i > -1; i -= 3)\n    y[i / 3] = x[i / 3] * 0.5;": "y[i_step] = x[i_step]",
    "for (int i = 5; i < 2 * n + 4; i += 2)\n    z[i] = z[i] * 0.5;": "z[2 * i_step + 5] = z[2 * i_step + 5]",
    "for (int i = 1; i < n; i += 2)\n    z[i] = z[i] * 0.5;": "",   # n / 2 iterations, rounded: stays as it is
}


@pytest.mark.parametrize("body", BODIES)
def test_strided_loops(body: str, tmp_path: Path) -> None:
    text = ("void f(int n, double x[n + 9], double y[n], double z[3 * n + 9]) {\n#pragma scop\n"
            f"  {body}\n#pragma endscop\n}}\n")
    source = emit(tile(pluto(analyse(from_c_text(text))), TilingOptions()), options=EmitOptions(vector_bits=256))
    assert BODIES[body] in source.text, source.text
    assert ("+= 2)" in source.text) is not bool(BODIES[body]), source.text
    new, old = load(splice(text, [source]), tmp_path), load(text, tmp_path, strict=False)
    for n in (1, 2, 3, 7, 8, 9, 17, 40):
        results = []
        for library in (new, old):
            random = np.random.default_rng(n)
            arrays = [random.random(n + 9), random.random(n), random.random(3 * n + 9)]
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
            results.append(b"".join(a.tobytes() for a in arrays))
        assert results[0] == results[1], (n, source.text)


@pytest.mark.parametrize("op", ["/", "%", "&", ">>"])
def test_operations_of_multiples_have_the_value_that_c_gives(op: str) -> None:
    number = {"/": 3, "%": 3, "&": 3, ">>": 2}[op]
    period = {"/": 3, "%": 3, "&": 4, ">>": 4}[op]
    form = source_operation(op, variable("i") * (2 * period) + period, number)
    value = {"/": variable("i") * 2 + 1, ">>": variable("i") * 2 + 1}.get(op, variable("i") * 0)
    assert form == value
    assert source_operation(op, variable("i") * period + 1, number) != value   # rounding depends on the sign
