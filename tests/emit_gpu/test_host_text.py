"""The host's C."""

import islpy as isl

from polysched.emit_gpu.fixed_values import when
from tests.emit_gpu.emitted import emitted
from tests.gpu.mapped import PRODUCT, STENCIL


def test_only_what_is_live_is_copied() -> None:
    lines = [line.strip() for line in emitted(PRODUCT).source.text.splitlines()]
    copies = [line for line in lines if "polysched_device_write" in line or "polysched_device_read" in line]
    assert copies == [
        "polysched_device_write(A_device, (void *)(A), 0, n, (long)(n), sizeof(float));",
        "polysched_device_write(B_device, (void *)(B), 0, n, (long)(n), sizeof(float));",
        "polysched_device_read(C_device, (void *)(C), 0, n, (long)(n), sizeof(float));"]


def test_rows_that_are_kept_are_sent_once_and_freed_whatever_the_sizes() -> None:
    text = ("void f(int n, int m, int A[n], int s[1]) {\n#pragma scop\n"
            "  for (int i = 0; i < n; i++)\n    s[0] += A[i];\n"
            "  if (m > 9)\n    for (int i = 0; 2 * i < n; i++)\n      A[2 * i] = i;\n#pragma endscop\n}\n")
    lines = [line.strip() for line in emitted(text).source.text.splitlines()]
    assert "polysched_device_forget(&polysched_device_kept_A_device);" in lines
    assert sum("polysched_device_keep(&polysched_device_kept_A_device, A_device" in line for line in lines) == 1
    assert not [line for line in lines if "polysched_device_write(A_device" in line]
    (read,) = (line for line in lines if "polysched_device_read_changed(A_device" in line)
    assert read.startswith("if (")


def test_a_loop_of_the_host_has_launches_inside() -> None:
    text = emitted(STENCIL).source.text
    assert text.count("for (") == 1
    assert text.count("polysched_device_launch(") == 2


def test_no_condition_where_there_always_are_elements() -> None:
    context = isl.Set("[n] -> { : n >= 1 }")
    assert when(isl.Set("[n] -> { A[i] : 0 <= i < n }"), context) is None
    assert when(isl.Set("[n] -> { A[i] : 1 <= i < n }"), context) is not None


CORNER = ("void f(int n, int m, double A[n][n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
          "    for (int j = 0; j < n; j++)\n      A[i][j] = i;\n  A[m - 1][m - 1] = 7;\n#pragma endscop\n}\n")


def test_sizes_with_elements_in_front_of_an_array_are_an_error_of_the_call() -> None:
    lines = [line.strip() for line in emitted(CORNER).source.text.splitlines()]
    at = lines.index("if (m <= 0)")
    assert lines[at + 1] == 'polysched_device_refuse("A is used in front of its first element");'
    assert not [line for line in emitted(PRODUCT).source.text.splitlines() if "in front" in line]
