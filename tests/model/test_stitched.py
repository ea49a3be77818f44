"""The step that makes one loop over tiles of a program, as options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.graph.planning.expressions import scop_of
from polysched.graph.values.text import from_text
from polysched.model import stitched as module
from polysched.model.stitched import stitched_program
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling.primitives import Stitch
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target import Target
from polysched.tiling import TilingOptions
from tests.scheduling.primitives import stitched_programs as programs


def test_the_cheapest_legal_plan_is_one_more_step():
    found = stitched_program(from_c_text(programs.LAYER_NORM), PipelineOptions(scheduler="original"))
    assert found is not None
    assert found.options.steps == (found.plan.step,)
    assert isinstance(found.plan.step, Stitch)
    assert not found.options.collapse


def test_what_a_plan_judges_its_kernel_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[PipelineOptions] = []

    def counted(scop: Scop, options: PipelineOptions) -> None:
        asked.append(options)
    monkeypatch.setattr(module, "_KEPT", {})
    monkeypatch.setattr(module, "stitched_program", counted)
    monkeypatch.setattr(module, "LIMITS", replace(module.LIMITS, kept_fragments=1))
    fragment = from_text("graph kernel(x: float32[4, 5]) { let y = Exp(x) return y }")
    for target in (Target(cores=1), Target(cores=1), Target(cores=2)):
        module.stitched_fragment(fragment, PipelineOptions(tiling=TilingOptions(target=target)))
    assert len(asked) == 2, "another machine has other tiles"
    other = from_text("graph kernel(x: float32[4, 6]) { let y = Exp(x) return y }")
    for each in (other, fragment):
        module.stitched_fragment(each, PipelineOptions(tiling=TilingOptions(target=target)))
    assert len(asked) == 4, "one is kept"


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


def test_rows_that_end_within_a_vector_are_one_row_in_a_stitched_kernel() -> None:
    graph = from_text("""graph kernel(x: float32[1, 8, 14, 14], w: float32[8, 8, 1, 1], b: float32[8]) {
      let c = Conv(x, w, b; dilations=[1, 1], group=1, kernel_shape=[1, 1], pads=[0, 0, 0, 0], strides=[1, 1])
      let y = Relu(c)
      return y
    }""")
    target = Target(vector_bits=512, cores=2)
    found = stitched_program(scop_of(graph), PipelineOptions(tiling=TilingOptions(target=target)))
    assert found is not None
    assert {len(s.iterators) for s in found.scop.statements if s.name != "S1"} == {3}
