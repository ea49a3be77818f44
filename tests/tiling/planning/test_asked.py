"""What steps by hand ask of tiling reaches the code."""

from __future__ import annotations

import pytest

from polysched.errors import UsageError
from polysched.pipeline import optimize
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scheduling.primitives import BandStep, Interchange, Pack, RegisterBlock, SplitTiles
from polysched.scop import from_c_text
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, product

LOOPS = ("i", "j", "k")
JACOBI = """void jacobi(int steps, int n, double a[n], double b[n]) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
    for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i] + b[i + 1];
  }
#pragma endscop
}
"""


def made(*steps, **choices):
    return optimize(product(), apply_recipe(OPTIONS, Recipe(steps=steps, **choices)))


def test_a_band_by_hand_is_tiled_by_the_model():
    (band,) = made(Interchange(outer="i", inner="j"), BandStep(loops=LOOPS)).tiled.bands
    assert band.plan is not None
    assert band.plan.shape is not None


def test_block_and_copies_are_those_of_the_steps():
    result = made(RegisterBlock(loops=LOOPS, rows=4, columns=8), Pack(loops=LOOPS, arrays=("B",)))
    (band,) = result.tiled.bands
    assert (band.plan.shape.row_count, band.plan.shape.column_count) == (4, 8)
    assert [array for buffer in result.source.packed for array in buffer.arrays] == ["B"]
    assert made(RegisterBlock(loops=LOOPS, rows=0, columns=0)).tiled.bands[0].plan.shape is None


def test_edges_of_a_recipe_hold_for_bands_by_hand():
    (band,) = made(BandStep(loops=LOOPS), bands={0: BandOptions(sizes=(16, 24, 32), register=False)}).tiled.bands
    assert band.plan.edges == (16, 24, 32)


def test_a_block_that_no_nest_can_have_is_refused():
    with pytest.raises(UsageError, match="no nest can have this register block"):
        made(RegisterBlock(loops=LOOPS, rows=90, columns=8))


def test_split_tiles_are_asked_for():
    asked = optimize(from_c_text(JACOBI), apply_recipe(OPTIONS, Recipe(
        tile=(16, 256), steps=(SplitTiles(loops=(0, 1)),))))
    assert asked.tiled.options.split is None
    assert asked.tiled.options.for_band(0).split is True
    assert any(band.pieces for band in asked.tiled.bands)


def test_steps_that_contradict_each_other_are_refused():
    block = RegisterBlock(loops=LOOPS, rows=4, columns=8)
    with pytest.raises(UsageError, match="two steps register_block are for one band"):
        made(block, RegisterBlock(loops=LOOPS, rows=2, columns=8))
    with pytest.raises(UsageError, match="there is no array 'Q' to copy"):
        made(block, Pack(loops=LOOPS, arrays=("Q",)))
