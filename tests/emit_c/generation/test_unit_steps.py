"""Loops with steps are counted by one, and are rows like any other then."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.loop_ir.index import source_operation, variable
from polysched.emit_c.loop_ir.text import linear_text, loop_text
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.pass_history import pass_history
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.nodes import for_loops
from tests.schedules import pluto_of

BODIES = {   # the loop, and its iterator in terms of the variable that is counted by one
    "for (int i = 0; i < 3 * n; i += 3)\n    for (int k = 0; k < 9; k++)\n      y[i / 3] += x[k] * z[i + k];":
        "3*polysched_c0",
    "for (int i = 3 * n - 3; i > -1; i -= 3)\n    y[i / 3] = x[i / 3] * 0.5;": "3*polysched_c0",
    "for (int i = 5; i < 2 * n + 4; i += 2)\n    z[i] = z[i] * 0.5;": "2*polysched_c0 + 5",
    "for (int i = 1; i < n; i += 2)\n    z[i] = z[i] * 0.5;": "",   # n / 2 iterations, rounded: stays as it is
}


@pytest.mark.parametrize("body", BODIES)
def test_strided_loops(body: str, tmp_path: Path) -> None:
    text = ("void f(int n, double x[n + 9], double y[n], double z[3 * n + 9]) {\n#pragma scop\n"
            f"  {body}\n#pragma endscop\n}}\n")
    tiled, options = tile(pluto_of(text), TilingOptions()), EmitOptions(vector_bits=256)
    (record,) = (r for r in pass_history(tiled, options) if r.loop_pass.name == "unit_steps")
    assert record.changed is bool(BODIES[body])
    assert {loop.step == 1 for loop in for_loops(record.after)} == {record.changed}
    (instance,) = instances(record.after)
    assert linear_text(instance.iterators[0]) == (BODIES[body] or "polysched_c0"), loop_text(record.after)
    source = emit(tiled, options=options)
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
