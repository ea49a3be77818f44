"""The original code as an alternative where there is too little to do."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load

TEXT = """
void f(int n, int m, double A[restrict n][m])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < m; j++)
      A[i][j] = 2 * A[i][j];
#pragma endscop
}
"""
SAFE = polysched.PipelineOptions(safe=True)


def test_the_test_counts_iterations_and_regions() -> None:
    region = polysched.optimize(from_c_text(TEXT), SAFE)
    assert region.text.startswith("if ((double)((long)n - 2) * ((long)m) >= 1024) {\n")
    assert "} else {\n    for (int i = 1; i < n - 1; i++)" in region.text
    assert region.kept_below == 1024
    assert any("fewer than 1024 iterations" in step for step in region.steps())


def test_constant_sizes_with_enough_to_do_need_no_test() -> None:
    big = TEXT.replace("n - 1", "1000").replace("j < m", "j < 1000").replace("n]", "1000]").replace("[m]", "[1000]")
    assert "else" not in polysched.optimize(from_c_text(big), SAFE).text


def test_both_branches_compile_and_agree(tmp_path: Path) -> None:
    region = polysched.optimize(from_c_text(TEXT), SAFE).text
    library = load(re.sub(r"#pragma scop.*#pragma endscop\n", lambda _: region, TEXT, flags=re.DOTALL), tmp_path)
    for n, m in ((3, 4), (40, 70)):
        array = np.ones((n, m))
        library.f(ctypes.c_int(n), ctypes.c_int(m), ctypes.c_void_p(array.ctypes.data))
        np.testing.assert_array_equal(array[1:-1], 2)
        np.testing.assert_array_equal(array[[0, -1]], 1)


LIGHT = """
void f(int n, float x[restrict n], float y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] += BODY;
#pragma endscop
}
"""


def test_a_light_loop_needs_more_iterations_to_pay_for_a_region() -> None:
    """The compiler's vectors have done thousands of them before a region is entered."""
    for parallel, body, expected in ((True, "y[i]", 2 * 8192), (True, "expf(y[i])", 2 * 512), (False, "y[i]", 512)):
        text = "#include <math.h>\n" + LIGHT.replace("BODY", body)
        region = polysched.optimize(from_c_text(text), polysched.PipelineOptions(safe=True, parallel=parallel))
        assert region.kept_below == expected, region.text
