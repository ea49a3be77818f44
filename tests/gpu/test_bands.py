"""Which members become coordinates, and what the host loops over."""

import pytest

from tests.gpu.mapped import CHAIN, PRODUCT, SCALE, STENCIL, WAVEFRONT, mapped, shape


@pytest.mark.parametrize(("text", "scheduler", "expected"), [
    (SCALE, "original", "2"),
    (PRODUCT, "original", "2"),
    (PRODUCT, "pluto", "2; 2"),
    (STENCIL, "original", "for(1; 1)"),
    (WAVEFRONT, "pluto", "for(1)"),
    (CHAIN, "original", "0"),
])
def test_host_loops_and_coordinates(text: str, scheduler: str, expected: str) -> None:
    assert shape(mapped(text, scheduler).host) == expected


def test_parts_without_parallel_loops_share_a_launch() -> None:
    text = ("void f(int n, double a[n], double b[n], double c[n]) {\n#pragma scop\n"
            "  for (int i = 1; i < n; i++) a[i] += a[i - 1];\n  for (int i = 1; i < n; i++) b[i] += b[i - 1];\n"
            "  for (int i = 1; i < n; i++) c[i] += a[n - i];\n#pragma endscop\n}\n")
    assert shape(mapped(text).host) == "0; 1"
