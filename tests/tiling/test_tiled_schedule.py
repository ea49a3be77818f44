"""The TiledSchedule value: what was done to each band, in one line, as text and as HTML."""

from __future__ import annotations

from polysched.target import Target
from polysched.tiling import TiledSchedule, TilingOptions, tile
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=256, vector_registers=16, cores=2)
TEXT = """void f(float C[400][400], float A[400][400], float B[400][400]) {
#pragma scop
  for (int i = 0; i < 400; i++)
    for (int j = 0; j < 400; j++)
      for (int k = 0; k < 400; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def tiled(sizes: int | str | tuple[int, ...]) -> TiledSchedule:
    return tile(pluto_of(TEXT), TilingOptions(target=MACHINE, sizes=sizes))


def test_one_line() -> None:
    assert tiled((32, 64, 128)).headline() == "of f: tiles 32x64x128 in band 0"
    assert tiled("off").headline() == "of f: no tiles"
    assert len(repr(tiled((32, 64, 128)))) <= 300


def test_what_was_done_to_the_band() -> None:
    (band,) = tiled((32, 64, 128)).bands
    assert band.sizes == (32, 64, 128)
    assert band.plan is not None
    assert band.untiled is None
    assert band.parallel_member in (0, 1)
    assert set(band.tile_members) == {0, 1, 2}
    assert len(band.register) == 2


def test_a_band_without_tiles_says_why() -> None:
    (band,) = tiled("off").bands
    assert band.sizes == ()
    assert not band.wavefront
    assert not band.pieces


def test_options_and_schedule_are_kept() -> None:
    made = tiled((32, 64, 128))
    assert made.options is not None
    assert made.options.sizes == (32, 64, 128)
    assert made.schedule.algorithm == "pluto"
    assert "<" in made._repr_html_()
    assert "band" in str(made)
