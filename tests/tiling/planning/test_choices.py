"""What may be chosen for a band, beside what the model chooses."""

from __future__ import annotations

from polysched.tiling import TilingOptions
from polysched.tiling.planning.band_plan import BandPlan, Untiled
from polysched.tiling.planning.choices import band_choices
from tests.schedules import pluto_of
from tests.search.programs import COPY, MACHINE, PRODUCT

SEIDEL = """\
void sweep(int t, int n, double a[n])
{
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 1; i < n - 1; i++)
      a[i] = a[i - 1] + a[i] + a[i + 1];
#pragma endscop
}
"""


def choices(text: str, **sizes: int):
    schedule = pluto_of(text)
    return band_choices(schedule, TilingOptions(target=MACHINE, parameters=sizes))


def test_a_product_has_blocks_free_loops_and_a_problem_per_private_cache():
    (band,) = choices(PRODUCT, n=512)
    assert (band.members, band.free, band.levels) == (3, (0, 1), (2, 1))
    assert isinstance(band.plan, BandPlan)
    assert band.shapes[0] is band.shape
    assert len({(s.row_count, s.column_count) for s in band.shapes}) > 3
    assert band.nest.extents == (512, 512, 512)
    assert band.times == 1.0
    with_block, plain = band.problem(2, band.shape), band.problem(2, None)
    assert with_block.granules[band.shape.rows] == band.shape.row_count
    assert plain.shape is None


def test_a_loop_alone_has_no_tiles():
    (band,) = choices(COPY, n=1000)
    assert (band.members, band.levels, band.shapes) == (1, (), ())
    assert isinstance(band.plan, Untiled)


def test_tiles_over_time_run_in_wavefronts():
    (band,) = choices(SEIDEL, t=100, n=1000)
    assert band.free == ()
    assert band.problem(1, None).wavefront
