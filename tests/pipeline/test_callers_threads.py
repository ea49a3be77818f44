"""Regions that the file's own threads run have no teams of their own."""

from __future__ import annotations

import pytest

from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.tiling import BandOptions, TilingOptions

TEXT = """void f(int n, double *restrict a) {{
  {before}
  {{
#pragma scop
    for (int i = 0; i < n; i++) a[i] = 2.0 * a[i];
#pragma endscop
  }}
}}
"""


@pytest.mark.parametrize(("before", "teams"), [("", True), ("\n#pragma omp parallel\n", False)])
def test_no_team_inside_a_team(before: str, teams: bool) -> None:
    assert ("#pragma omp parallel" in optimize(from_c_text(TEXT.format(before=before))).text) is teams


@pytest.mark.parametrize("tiling", [TilingOptions(parallel_loop=0), TilingOptions(parallel_degrees=2),
                                    TilingOptions(bands={0: BandOptions(parallel_loop=0)}),
                                    TilingOptions(bands={0: BandOptions(parallel=True)})])
@pytest.mark.parametrize(("before", "teams"), [("", True), ("\n#pragma omp parallel\n", False)])
def test_a_loop_for_threads_by_hand_is_none_inside_a_team(before: str, teams: bool, tiling: TilingOptions) -> None:
    made = optimize(from_c_text(TEXT.format(before=before)), PipelineOptions(tiling=tiling))
    assert ("#pragma omp parallel" in made.text) is teams
