"""Types, numbers and conversions as MLIR spells them."""

import itertools

import pytest

from polysched.emit_c.loop_ir.index import variable
from polysched.emit_c.mlir.arithmetic import Body, array_name, type_text
from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.dtypes import BFLOAT16, BOOL, UINT16


def lines(statement: str) -> list[str]:
    scop = from_c_text(f"void f(int n, double a[n], float b[n], unsigned u[n], short h[n], "
                       f"_Float16 x[n], __bf16 y[n], int k[n]) {{\n#pragma scop\n"
                       f"for (int i = 0; i < n; i++) {statement}\n#pragma endscop\n}}")
    arrays = {array.name: f"memref<?x{type_text(array.dtype)}>" for array in scop.arrays}
    return Body(scop, scop.statements[0], [variable("i")], arrays, (f"v{k}" for k in itertools.count())).write()


@pytest.mark.parametrize(("statement", "expected"), [
    ("a[i] = 1e-7;", "%v0 = arith.constant 1.0e-07 : f64"),
    ("a[i] = 3;", "%v1 = arith.sitofp %v0 : i32 to f64"),
    ("b[i] = a[i];", "%v1 = arith.truncf %v0 : f64 to f32"),
    ("y[i] = x[i];", "%v2 = arith.truncf %v1 : f32 to bf16"),
    ("u[i] = u[i] / 3u;", "%v2 = arith.divui %v0, %v1 : i32"),
    ("h[i] += 1;", "%v2 = arith.extsi %v1 : i16 to i32"),
    ("k[i] >>= 1u;", "%v2 = arith.shrsi %v1, %v0 : i32"),
    ("a[i] = -a[i];", "%v1 = arith.negf %v0 : f64"),
    ("b[i] = sqrtf(b[i]);", "%v1 = math.sqrt %v0 : f32"),
    ("a[i] = a[i] < b[i] ? 1.0 : 2.0;", "%v3 = arith.cmpf olt, %v0, %v2 : f64"),
])
def test_operations(statement: str, expected: str) -> None:
    assert expected in lines(statement)


def test_types_and_names() -> None:
    assert (type_text(BFLOAT16), type_text(UINT16)) == ("bf16", "i16")
    assert array_name("p.x") == "p_x"
    with pytest.raises(UnsupportedScopError, match="witness: _Bool"):
        type_text(BOOL)
    with pytest.raises(UnsupportedScopError, match="must not both be computed"):
        lines("a[i] = i > 0 ? a[i - 1] : 0.0;")
