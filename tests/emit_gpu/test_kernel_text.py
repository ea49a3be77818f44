"""Kernels as text."""

from polysched.emit_gpu import emit_opencl
from tests.emit_gpu.emitted import emitted
from tests.gpu.mapped import PRODUCT, SCALE, mapped


def test_the_text_of_a_kernel() -> None:
    kernel = emit_opencl(mapped(SCALE, block=(32, 8))).kernels[0]
    lines = kernel.text.splitlines()
    assert lines[0] == (f"__kernel void {kernel.name}(__global const double *restrict B, const long B_1, __global "
                        "double *restrict A, const long A_1, const int n, const long first_x, const long first_y)")
    assert lines[2] == "  const long x = first_x + (long)get_group_id(0) * 32 + (long)get_local_id(0);"
    assert lines[5] == "    A[y * A_1 + x] = 2 * B[x * B_1 + y];"


def test_doubles_are_asked_for_where_they_are_used() -> None:
    assert "cl_khr_fp64" in emitted(SCALE).program
    assert "cl_khr_fp64" not in emitted(PRODUCT).program
