"""What copies into panels move: each operand once, or again for every loop around that leaves it alone."""

from __future__ import annotations

from dataclasses import replace

from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.planning.band_plan import BandPlan
from polysched.tiling.planning.repacking import packing_bytes
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=256, vector_registers=16, cores=2)
TEXT = """void f(float C[768][768], float A[768][768], float B[768][768]) {
#pragma scop
  for (int i = 0; i < 768; i++)
    for (int j = 0; j < 768; j++)
      for (int k = 0; k < 768; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
LINE = 64


def planned(sizes: tuple[int, ...], order: tuple[int, ...]) -> BandPlan:
    tiled = tile(pluto_of(TEXT), TilingOptions(target=MACHINE, sizes=sizes, order=order))
    (band,) = tiled.bands
    assert band.plan is not None
    return band.plan


def moved(plan: BandPlan, *, shares: bool = False, transfers: int = 1) -> int:
    return packing_bytes(plan, shares=shares, line_bytes=LINE, transfers=transfers)


def test_a_plan_without_a_register_block_copies_nothing() -> None:
    assert moved(replace(planned((96, 96, 96), (0, 1, 2)), shape=None)) == 0


def test_every_line_moves_as_often_as_the_machine_says() -> None:
    plan = planned((96, 96, 96), (0, 2, 1))
    assert moved(plan, transfers=3) == 3 * moved(plan)
    assert moved(plan) > 0


def test_an_operand_is_copied_again_for_loops_that_leave_it_alone() -> None:
    """B is copied inside k_tile and j_tile: again for every tile of rows around them."""
    few, many = (moved(planned((rows, 96, 96), (0, 2, 1))) for rows in (384, 96))
    assert many > few


def test_what_threads_share_is_copied_once_for_all_of_them() -> None:
    plan = planned((96, 96, 96), (0, 2, 1))
    assert moved(plan, shares=True) < moved(plan)
