"""Rows along which temporaries carry values stay whole, so that the temporaries are contracted to rows."""

from __future__ import annotations

import pytest

import polysched
from polysched.scop import from_c_text
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

PROGRAM = """
void f(int n, int m, int l, double r[n][m][l], double u[n][m][l]) {{
  double row[4096];
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {{
      for (int k = 0; k < l; k++)
        row[k] = r[i][j - 1][k] + r[i][j + 1][k] + r[i - 1][j][k] + r[i + 1][j][k];
      for (int k = 1; k < l - 1; k++)
        u[i][j][k] = {read};
    }}
#pragma endscop
}}
"""
ALONG_THE_ROW = "u[i][j][k] + row[k - 1] + row[k + 1]"
IN_PLACE = "u[i][j][k] + row[k]"
SMALL = Target(vector_bits=256, vector_registers=16, cores=2, caches=(
    CacheLevel(level=1, size_bytes=32 << 10), CacheLevel(level=2, size_bytes=128 << 10)))


def tiled(read: str) -> TiledSchedule:
    scop = from_c_text(PROGRAM.format(read=read))
    dependences = polysched.pipeline.analysed(scop).dependences
    return tile(polysched.scheduling.pluto(dependences), TilingOptions(
        target=SMALL, parameters={"n": 500, "m": 500, "l": 1000}))


@pytest.mark.parametrize(("read", "cut"), [(ALONG_THE_ROW, False), (IN_PLACE, True)])
def test_the_row_is_cut_only_where_no_value_goes_along_it(read: str, cut: bool) -> None:
    (band,) = tiled(read).bands
    assert (bool(band.sizes) and band.sizes[2] < 1000) is cut, band.sizes


def test_the_temporary_is_a_row() -> None:
    assert "row_copies" not in polysched.emit_c.emit(tiled(ALONG_THE_ROW)).text
