"""A register block whose statement has no vector code is not made."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.cli.entry import main
from polysched.emit_c import lower
from polysched.scop import from_c_text
from polysched.tiling.planning.plan import BandPlan
from tests.emit_c.compiled import load

TEXT = """
#include <math.h>
void f(int n, TYPE C[n][n], TYPE A[n][n], TYPE B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += VALUE;
#pragma endscop
}
"""
WIDE = polysched.PipelineOptions(vector_bits=256)


def text(dtype: str, value: str) -> str:
    return TEXT.replace("TYPE", dtype).replace("VALUE", value)


@pytest.mark.parametrize(("dtype", "value", "made"), [
    ("float", "A[i][k] * B[k][j]", True),
    ("float", "expf(A[i][k] * B[k][j])", True),
    ("float", "fmodf(A[i][k], B[k][j])", False),
    ("long double", "A[i][k] * B[k][j]", False),
])
def test_a_block_is_planned_where_it_has_vector_code(dtype: str, value: str, made: bool) -> None:
    region = polysched.optimize(from_c_text(text(dtype, value)), WIDE)
    plans = [band.plan for band in region.tiled.bands if isinstance(band.plan, BandPlan)]
    assert any(plan.shape is not None for plan in plans) == made
    assert not lower(region.tiled, options=WIDE.emit_options()).blocks_without_code
    assert any("no register block" in step for step in region.steps()) != made


def test_what_is_left_without_a_block_computes_the_same(tmp_path: Path) -> None:
    source = text("double", "fmod(A[i][k], B[k][j])")
    region = polysched.optimize(from_c_text(source), WIDE)
    made = load(re.sub(r"#pragma scop.*#pragma endscop\n", lambda _: region.text, source, flags=re.DOTALL), tmp_path)
    before = load(source, tmp_path)
    rng = np.random.default_rng(1)
    for n in (1, 7, 33):
        c, a, b = (rng.uniform(1, 9, (n, n)) for _ in range(3))
        results = []
        for library in (before, made):
            out = c.copy()
            library.f(ctypes.c_int(n), *(ctypes.c_void_p(x.ctypes.data) for x in (out, a, b)))
            results.append(out)
        np.testing.assert_array_equal(*results)


def test_tile_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mod.c"
    file.write_text(text("float", "fmodf(A[i][k], B[k][j])"))
    assert main(["tile", str(file)]) == 0
    assert "note: S0: no register block, as its body has no vector code" in capsys.readouterr().out


def test_a_block_by_hand_without_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mod.c"
    file.write_text(text("float", "fmodf(A[i][k], B[k][j])"))
    assert main(["c2c", str(file), "--register-block", "4x8", "--vector-bits", "256"]) != 0
    assert "vector code" in capsys.readouterr().err
