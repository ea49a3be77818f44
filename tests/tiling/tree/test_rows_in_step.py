"""Rows that go in step: how far behind each other they are, and what the models make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.scheduling.tree.loop_tree import from_isl
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.footprints.nest import nest_of
from polysched.tiling.planning.tile_problem import waiting_cycles
from polysched.tiling.tree.position import top
from polysched.tiling.tree.rows_in_step import ROWS
from tests.schedules import original_of, pluto_of

PROGRAM = """
void f(double A[400][400], double c) {{
#pragma scop
  for (int i = 8; i < 400; i++)
    for (int j = 8; j < 392; j++)
      A[i][j] = A[i][j - 1] / {above} + c;
#pragma endscop
}}
"""
SWEEPS = """
void f(double A[1000][1000]) {
#pragma scop
  for (int t = 0; t < 40; t++)
    for (int i = 1; i < 999; i++)
      for (int j = 1; j < 999; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0;
#pragma endscop
}
"""
MACHINE = Target(vector_bits=256, vector_registers=16, cores=1, caches=(
    CacheLevel(level=1, size_bytes=32 << 10), CacheLevel(level=2, size_bytes=1 << 20)))


def nest_as_written(above):
    schedule = original_of(PROGRAM.format(above=above))
    tree = from_isl(schedule.tree)
    members = (*tree.root.members, *tree.root.child.members)
    return nest_of(schedule.scop, top(schedule.dependences, tree.domain), members, {})


@pytest.mark.parametrize(("above", "lag"), [
    ("3.0", 0),                     # rows do not know each other
    ("A[i - 1][j - 1]", 0),         # the element above has been computed in an earlier step
    ("A[i - 1][j]", 1),
    ("A[i - 2][j]", 1),             # one column for two rows would put both into one step
    ("A[i - 8][j]", 0),             # not a row of the same step
])
def test_rows_are_as_far_behind_as_every_dependence_between_them_needs(above, lag):
    nest = nest_as_written(above)
    assert nest.extents == (392, 384)
    assert nest.row_lags[1] == lag


def test_rows_that_need_more_columns_than_short_ends_allow_go_alone():
    assert nest_as_written("A[i - 1][j + 3]").row_lags[1] == 4
    assert nest_as_written("A[i - 1][j + 4]").row_lags[1] is None


def test_long_rows_in_step_wait_less_and_short_ones_hardly_share():
    nest = nest_as_written("A[i - 1][j]")
    alone = replace(nest, row_lags=(None, None))
    assert waiting_cycles(nest, 1, 384, MACHINE) < 1.2 / ROWS * waiting_cycles(alone, 1, 384, MACHINE)
    assert waiting_cycles(nest, 1, ROWS - 1, MACHINE) == waiting_cycles(alone, 1, ROWS - 1, MACHINE)


def test_tiles_leave_rows_in_step_long_and_of_a_whole_number_of_blocks():
    band = tile(pluto_of(SWEEPS), TilingOptions(
        sizes="auto", target=MACHINE, parallel=False)).bands[0]
    assert band.plan.edges[2] is None or band.plan.edges[2] >= 128
    assert band.plan.edges[1] % ROWS == 0
