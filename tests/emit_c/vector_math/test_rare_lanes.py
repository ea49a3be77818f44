"""Lanes with rare arguments get the C library's value, and others keep theirs."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import pytest

from polysched.emit_c.vector_math.rare_lanes import RARELY, rare_lanes_definition
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from tests.emit_c.compiled import load


@pytest.mark.parametrize("flags", [("-O1",), ("-O2", "-mavx2")])
@pytest.mark.parametrize(("dtype", "element", "integer"), [(FLOAT32, "float", "int"), (FLOAT64, "double", "long")])
def test_only_rare_lanes_are_replaced(dtype: DType, element: str, integer: str, flags: tuple[str, ...],
                                      tmp_path: Path) -> None:
    types = "".join(f"typedef {name} {short}4 __attribute__((vector_size({4 * dtype.bytes})));\n"
                    for short, name in (("r", element), ("i", integer)))
    text = types + "\n".join([*rare_lanes_definition("by_libm_sin", "rare", dtype), "void f(r4 *v, const r4 *x, "
                              "const i4 *m) { *v = rare(r4, i4, *v, *x, *m); }\n"])
    number, whole = (ctypes.c_float, ctypes.c_int) if dtype == FLOAT32 else (ctypes.c_double, ctypes.c_long)
    function = load(text, tmp_path, strict=False, flags=flags).f
    for rare in ((0, 0, 0, 0), (0, -1, 0, 0), (-1, 0, 0, -1)):
        v = aligned(number, (7.0, 7.0, 7.0, 7.0))
        function(v, aligned(number, (1.0, 2.0, 3.0, 4.0)), aligned(whole, rare))
        expected = [math.sin(n) if lane else 7.0 for n, lane in zip((1.0, 2.0, 3.0, 4.0), rare, strict=True)]
        assert list(v) == pytest.approx(expected, rel=1e-6)


def aligned(kind: type, values: tuple[float, ...]) -> ctypes.Array:
    """An array at a boundary of 32 bytes."""
    size = ctypes.sizeof(kind) * len(values)
    room = ctypes.create_string_buffer(size + 32)
    made = (kind * len(values)).from_buffer(room, -ctypes.addressof(room) % 32)
    made[:] = values
    return made


def test_the_functions_are_those_of_large_arguments() -> None:
    assert set(RARELY.values()) == {"sin", "cos"}
    assert "__builtin_cosf(" in "".join(rare_lanes_definition("by_libm_cos", "m", FLOAT32))
    assert "__builtin_cos(" in "".join(rare_lanes_definition("by_libm_cos", "m", FLOAT64))
