"""Lanes with rare arguments get the C library's value, and others keep theirs."""

from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path

import pytest

from polysched.emit_c.vector_math.rare_lanes import RARELY, rare_lanes_definition
from polysched.pipeline import PipelineOptions, transform_file
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from polysched.target import find_compiler
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


def test_no_lane_overflows_a_signed_integer(tmp_path: Path) -> None:
    """Lanes compute on the bits of values that are no arguments of theirs, too: of infinities, NaN, numbers below 0."""
    calls = {"double": ("exp", "log"), "float": ("expf", "logf")}
    functions = "".join(f"void {f}s({kind} *restrict y, const {kind} *restrict x, {kind} p) {{\n#pragma scop\n"
                        f"for (int i = 0; i < 32; i++) y[i] = {f}(x[i]);\n#pragma endscop\n}}\n"
                        for kind, names in calls.items() for f in names)
    functions += "".join(f"void pow{f}s({kind} *restrict y, const {kind} *restrict x, {kind} p) {{\n#pragma scop\n"
                         f"for (int i = 0; i < 32; i++) y[i] = pow{f}(x[i], p);\n#pragma endscop\n}}\n"
                         for kind, f in (("double", ""), ("float", "f")))
    values = "0.5, -0.5, 0, -0.0, 1e-310, 1e300, -1e300, 1. / 0, -1. / 0, 0. / 0, -(0. / 0), 3, -3e5, 700, -700, 2.5"
    called = {"double": (*calls["double"], "pow"), "float": (*calls["float"], "powf")}
    main = "".join(f"  {f}s(({kind} *)y, {kind[0]}, -1.5);\n" for kind, names in called.items() for f in names)
    source = tmp_path / "in.c"
    source.write_text(f"#include <math.h>\n{functions}int main(void) {{\n  static double d[32] = {{{values}}}, y[32];\n"
                      f"  static float f[32] = {{{values.replace('e300', 'e30')}}};\n{main}  return 0;\n}}\n")
    made = transform_file(source, PipelineOptions(vector_bits=128))
    assert all(f"polysched_{name}_f" in made.text for name in ("exp", "log", "pow", "scale"))
    file, program = tmp_path / "out.c", tmp_path / "out"
    file.write_text(made.text)
    built = find_compiler("gcc").run(["-O1", "-w", "-fsanitize=signed-integer-overflow", str(file), "-o", str(program),
                                      "-fsanitize-undefined-trap-on-error", "-lm"], folder=tmp_path)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([program], check=False).returncode == 0
