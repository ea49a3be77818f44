"""The original code as an alternative where there is too little to do."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.emit_c.scalar_code import region_branches
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


def test_the_test_counts_iterations_and_starts_of_loops() -> None:
    region = polysched.optimize(from_c_text(TEXT), SAFE)
    work, rows = r"\(double\)\(\(long\)n - 2\) \* \(\(long\)m\)", r"\(double\)\(\(long\)n - 2\)"
    assert re.match(rf"if \(\(m >= 1 && n >= 1\) && \({work} >= \d+ \* {rows}", region.text)
    assert "} else {\n    for (int i = 1; i < n - 1; i++)" in region.text
    assert region.pays is not None
    assert any(f"safe: the original code runs unless {region.pays.conditions[0]}" in step for step in region.steps())


def test_constant_sizes_are_judged_when_the_c_is_compiled() -> None:
    big = TEXT.replace("n - 1", "1000").replace("j < m", "j < 1000").replace("n]", "1000]").replace("[m]", "[1000]")
    region = polysched.optimize(from_c_text(big), SAFE)
    assert "else" not in region.text
    assert pays(region)
    small = polysched.optimize(from_c_text(big.replace("1000", "6")), SAFE)
    assert not pays(small)


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


def least(region: polysched.Optimized) -> int:
    """The constant part of the only condition."""
    assert region.pays is not None
    (condition,) = region.pays.conditions
    assert condition.startswith("(double)((long)n) >= "), condition
    return int(condition.rpartition(" ")[2])


def test_a_light_loop_needs_more_iterations_to_pay_for_its_start() -> None:
    light, heavy = (polysched.optimize(from_c_text("#include <math.h>\n" + LIGHT.replace("BODY", body)), SAFE)
                    for body in ("y[i]", "lgammaf(y[i])"))
    assert least(light) > least(heavy) > 0


def test_a_team_in_a_branch_of_its_own_costs_nothing_where_it_does_not_start() -> None:
    threads, none = (polysched.optimize(from_c_text(LIGHT.replace("BODY", "y[i]")), polysched.PipelineOptions(
        safe=True, parallel=parallel)) for parallel in (True, False))
    assert threads.source.tested_teams
    assert not none.source.tested_teams
    assert threads.pays == none.pays


STEPS = """
void f(int steps, int n, double a[restrict n][n], double b[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i][j] = b[i][j] + t;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        b[i][j] = a[n - 1 - i][n - 1 - j];
  }
#pragma endscop
}
"""


def test_a_team_costs_as_often_as_the_loops_around_it_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many steps on few elements never pay for two teams a step, however many iterations they have in all."""
    monkeypatch.setattr(region_branches, "MOST_LINES", 0)   # no branches that keep teams from being started
    region = polysched.optimize(from_c_text(STEPS), SAFE)
    assert region.pays is not None
    assert re.search(r" \+ \d+ \* \(double\)\(\(long\)steps\)", region.pays.conditions[0]), region.pays
    assert not pays(region, steps=10 ** 8, n=4)
    assert pays(region, steps=2, n=10 ** 4)


PRODUCT = """
void f(int n, int m, int l, float C[restrict n][m], float A[restrict n][l], float B[restrict l][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < l; k++)
      for (int j = 0; j < m; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_rows_that_do_not_fill_a_block_and_sums_of_few_addends_keep_the_original() -> None:
    region = polysched.optimize(from_c_text(PRODUCT), polysched.PipelineOptions(safe=True, vector_bits=256))
    assert pays(region, n=2000, m=2000, l=2000)
    assert not pays(region, n=2, m=2000, l=2000)
    assert not pays(region, n=2000, m=2000, l=3)


def pays(region: polysched.Optimized, **sizes: int) -> bool:
    """The conditions, in Python."""
    assert region.pays is not None
    text = " and ".join(("True", *region.pays.conditions))
    for c, python in (("(double)", ""), ("(long)", ""), ("/", "//")):
        text = text.replace(c, python)
    return bool(eval(text, {}, sizes))   # products, sums and comparisons of numbers
