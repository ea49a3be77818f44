"""The step that makes one loop over tiles of a program, as options."""

from __future__ import annotations

from polysched.model.stitched import stitched_program
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling.primitives import Stitch
from polysched.scop import from_c_text
from tests.scheduling.primitives import stitched_programs as programs


def test_the_cheapest_legal_plan_is_one_more_step():
    found = stitched_program(from_c_text(programs.LAYER_NORM), PipelineOptions(scheduler="original"))
    assert found is not None
    assert found.options.steps == (found.plan.step,)
    assert isinstance(found.plan.step, Stitch)
    assert not found.options.collapse


def test_results_without_a_common_tile_are_not_stitched():
    text = """
void f(int n, double x[n], double y[n], double z[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 2.0 * x[i];
  for (int i = 0; i < n; i++)
    z[i] = 3.0 * x[i];
#pragma endscop
}
"""
    assert stitched_program(from_c_text(text), PipelineOptions(scheduler="original")) is None
