"""Which elements a tile stores where their bits have changed, and which it stores whole."""

from __future__ import annotations

import pytest

import polysched
from polysched.scop import from_c_text

TEXT = """void f(int n, float R[restrict n][n], float A[restrict n][n], float B[restrict n][n], int m[restrict n]) {{
#pragma scop
  {body}
#pragma endscop
}}
"""
EACH = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
SUMS = EACH + "for (int k = 0; k < n; k++) "
UPDATE = "R[i][j] += A[i][k] * B[k][j];"


@pytest.mark.parametrize(("body", "changed"), [
    (f"{SUMS} if (m[k]) {UPDATE}", True),
    (f"{SUMS} {UPDATE}", False),
    (f"{EACH} R[i][j] = 0; {SUMS} if (m[k]) {UPDATE}", False),            # written in any case
    (f"{EACH} A[i][j] = R[i][j]; {SUMS} if (m[k]) {UPDATE}", True),       # read in any case
    (f"{SUMS} if (m[k]) {UPDATE} else R[i][j] += 1;", False)])
def test_elements_are_stored_where_they_change_if_only_conditions_write_them(body: str, changed: bool) -> None:
    options = polysched.PipelineOptions(vector_bits=256, reassociate=True, tensorize=None)
    made = polysched.optimize(from_c_text(TEXT.format(body=body)), options).source.text
    assert "R_1_0 " in made, made
    assert ("_changes[lane]" in made) is changed, made
