"""Regions that the file's own threads run have no teams of their own."""

from __future__ import annotations

import pytest

from polysched.pipeline import optimize
from polysched.scop import from_c_text

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
