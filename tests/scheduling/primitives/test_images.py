"""Which instances the tiles of a dominant statement need."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scheduling.primitives.images import assumed_values, images
from polysched.scheduling.tree.loop_tree import from_isl
from tests.scheduling.primitives import stitched_programs as programs
from tests.scheduling.primitives.changed_programs import BLUR, as_written


def found(text, dominant, sizes):
    program = as_written(text)
    return program.scop, {image.statement: image for image in images(
        program.dependences, from_isl(program.tree), dominant, sizes)}


def test_images_overlap_by_what_neighbours_read():
    scop, own = found(BLUR, "S1", (4,))
    expected = isl.Map("[n] -> { S0[i] -> [t] : 0 <= t and 4t <= n - 2 and 0 <= i < n and 4t <= i <= 4t + 4 }")
    assert own["S0"].tiles.intersect_params(scop.context).is_equal(expected.intersect_params(scop.context))
    assert own["S0"].again
    assert not own["S1"].again
    assert own["S0"].recomputed({"n": 1025}) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(("text", "dominant", "statements"), [
    (programs.LAYER_NORM, "S4", 5), (programs.SOFTMAX, "S5", 6), (programs.TWO, "S4", 5),
    (programs.ATTENTION, "S9", 10)])
def test_rows_need_the_sums_of_their_own_rows_alone(text, dominant, statements):
    _, own = found(text, dominant, (4,))
    assert len(own) == statements
    assert not any(image.again for image in own.values())
    assert all(image.left.is_empty() for image in own.values())


def test_sizes_that_are_not_known_are_assumed():
    scop, _ = found(BLUR, "S1", (4,))
    assert assumed_values(scop) == {"n": 1024}


SUMS = """
void f(double x[8][32], double s[8], double y[8][32]) {
  double e[8][32];
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 32; j++)
      e[i][j] = x[i][j] * x[i][j];
  for (int i = 0; i < 8; i++)
    s[i] = 0.0;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 32; j++)
      s[i] += e[i][j];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 32; j++)
      y[i][j] = e[i][31 - j];
#pragma endscop
}
"""


def test_a_sum_beside_the_dominant_statement_runs_in_its_tiles_from_where_it_starts():
    _, own = found(SUMS, "S3", (4,))
    assert set(own) == {"S0", "S1", "S2", "S3"}
    assert own["S1"].tiles.is_equal(isl.Map("{ S1[i] -> [t] : 0 <= i < 8 and 4t <= i <= 4t + 3 }"))
    assert all(image.left.is_empty() and not image.again for image in own.values())
