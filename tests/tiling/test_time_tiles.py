"""Forms of tiles over time by band: split, wavefronts and diamonds side by side, legal and with the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched import PipelineOptions, optimize
from polysched.dependence import analyse
from polysched.scheduling import Schedule, SchedulerOptions, pluto
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import BandOptions, TiledSchedule, TilingOptions, tile
from polysched.tiling.lesser_schedules import lesser_schedules
from polysched.tiling.tile_bands import NO_DIAMONDS, NO_PIECES
from tests.emit_c.compiled import load

TARGET = Target(cores=2, vector_bits=0)
SWEEPS = """
void sweeps(int steps, int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n]) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        D[i][j] = 0.2 * (C[i][j] + C[i][j - 1] + C[i][j + 1] + C[i + 1][j] + C[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        C[i][j] = 0.2 * (D[i][j] + D[i][j - 1] + D[i][j + 1] + D[i + 1][j] + D[i - 1][j]);
  }
#pragma endscop
}
"""
IN_PLACE = """
void in_place(int steps, int n, double A[n][n]) {
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
#pragma endscop
}
"""
FORMS = {"split": BandOptions(split=True), "wavefronts": BandOptions(split=False),
         "diamonds": BandOptions(diamond=True)}
SIZES = ((3, 20), (8, 33), (9, 64), (1, 3), (0, 5), (2, 2), (17, 41))


def schedule_of(text: str) -> Schedule:
    return pluto(analyse(from_c_text(text)), options=SchedulerOptions(fusion="none"))


def tiled(text: str, bands: dict[int, BandOptions], **options: object) -> TiledSchedule:
    return tile(schedule_of(text), TilingOptions(target=TARGET, sizes=(4, 8, 16), bands=bands, **options))


def forms(done: TiledSchedule) -> list[str]:
    return ["split" if band.pieces else "wavefronts" if band.wavefront else "" for band in done.bands if band.sizes]


def test_two_bands_have_forms_of_their_own():
    assert forms(tiled(SWEEPS, {0: FORMS["split"], 1: FORMS["wavefronts"]})) == ["split", "wavefronts"]
    assert forms(tiled(SWEEPS, {0: BandOptions(split=False)}, split=True)) == ["wavefronts", "split"]
    assert forms(tiled(SWEEPS, {1: FORMS["diamonds"]}, split=True)) == ["split", "wavefronts"], (
        "diamonds are wavefronts of both faces, and no pieces")
    automatic = TilingOptions(split=True, bands={0: BandOptions(split="auto")})
    assert (automatic.for_band(0).split, automatic.for_band(1).split) == (None, True)


@pytest.mark.parametrize("which", [("split", "diamonds"), ("diamonds", "wavefronts"), ("wavefronts", "split")],
                         ids="-".join)
def test_the_results_are_those_of_the_source(which, tmp_path: Path):
    bands = {number: FORMS[form] for number, form in enumerate(which)}
    made = optimize(from_c_text(SWEEPS), PipelineOptions(
        fusion="none", tiling=TilingOptions(target=TARGET, sizes=(4, 8, 16), bands=bands), vector_bits=0))
    assert not made.tiled.fallbacks
    ours = load(SWEEPS[:SWEEPS.index("#pragma")] + made.text + "}\n", tmp_path).sweeps
    original = load(SWEEPS, tmp_path, strict=False).sweeps
    for steps, n in SIZES:
        given = [np.random.default_rng(k).random((n, n)) for k in range(4)]
        left, right = ([array.copy() for array in given] for _ in range(2))
        for function, arrays in ((ours, left), (original, right)):
            function(steps, n, *(array.ctypes for array in arrays))
        assert all(np.array_equal(a, b) for a, b in zip(left, right, strict=True)), (steps, n)


def test_a_form_that_a_band_cannot_have_is_told_with_the_band():
    done = tiled(IN_PLACE, {0: FORMS["diamonds"]})
    assert done.fallbacks == (f"band 0: {NO_DIAMONDS}",)
    assert tiled(IN_PLACE, {}, diamond=True).fallbacks == (NO_DIAMONDS,)
    assert tiled(IN_PLACE, {0: FORMS["split"]}).fallbacks == (f"band 0: {NO_PIECES}",)
    assert tiled(IN_PLACE, {0: FORMS["split"]}, split=True).fallbacks == (NO_PIECES,), "told once"
    assert tiled(SWEEPS, {0: FORMS["diamonds"], 1: FORMS["split"]}).fallbacks == ()


def test_split_tiles_of_one_band_can_be_given_up():
    done = tiled(SWEEPS, {0: FORMS["split"], 1: FORMS["diamonds"]})
    lost, lesser = next(lesser_schedules(done))
    assert lost == "tiles were not split after all"
    assert forms(lesser) == ["wavefronts", "wavefronts"]
    assert lesser.options is not None
    assert lesser.options.for_band(1).diamond is True
