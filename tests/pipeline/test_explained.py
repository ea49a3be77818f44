"""What was done to each loop of a region, and why not more."""

import json
from dataclasses import replace

import pytest

from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.pipeline import optimize
from polysched.pipeline.explained import Explained, explained
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import TilingOptions

PROGRAM = """void f(int n, double C[n][n], double A[n][n], double B[n][n], double x[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int p = 1; p < n; p++)
    x[p] = x[p-1] * 0.5 + C[p][0];
#pragma endscop
}"""


@pytest.fixture(scope="module")
def told() -> Explained:
    return explained(optimize(from_c_text(PROGRAM), PipelineOptions(tensorize=None)))


def test_every_loop_of_the_program_is_told_of(told: Explained) -> None:
    assert [(loop.loop, loop.line) for loop in told.loops] == [("i", 6), ("j", 6), ("k", 6), ("p", 8)]
    assert told.headline() == "of f: 4 loops"


def test_tiles_threads_and_lanes_are_told(told: Explained) -> None:
    i, j, _, _ = told.loops
    assert any(words.startswith("tiles of ") for words in i.done)
    assert any(words.startswith("on threads (") for words in i.done)
    assert any("lanes" in words for words in j.done)
    assert any("of the same nest is, and teams do not nest" in line for line in j.not_more)


def test_why_not_more_has_the_least_pair(told: Explained) -> None:
    assert told.loops[3].not_more == (
        "not on threads: it carries the flow dependence of x from S1[1] to S1[2] where n = 3",
        "no tiles: one loop alone has nothing to reuse between tiles")
    assert "flow dependence of C from S0[0, 0, 0] to S0[0, 0, 1]" in told.loops[2].not_more[0]


def test_text_and_json(told: Explained) -> None:
    assert "  loop p around S1, line 8: a loop as scheduled\n    not on threads: it carries" in str(told)
    assert json.loads(json.dumps(told.to_json()))["loops"][3]["loop"] == "p"


def test_a_skewed_loop_stands_in_the_place_of_one_as_written() -> None:
    scop = from_c_text("""void f(int t_end, int n, double a[n]) {
#pragma scop
  for (int t = 0; t < t_end; t++)
    for (int i = 1; i < n - 1; i++)
      a[i] = a[i-1] + a[i] + a[i+1];
#pragma endscop
}""")
    first, second = explained(optimize(scop, PipelineOptions(tile=(16, 32)))).loops
    assert "tiles of 16" in first.done
    assert second.done[:2] == ("runs as t + i", "tiles of 32")


def test_a_skewed_loop_has_strips_for_threads_and_lanes_and_no_contradiction() -> None:
    """The strips that threads share are tiles; why the nest has no others is no matter of theirs, and said once."""
    scop = from_c_text("""void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 1; i < n; i++) for (int j = 0; j < n - 1; j++) A[i][j] = A[i-1][j+1] + 1;
#pragma endscop
}""")
    tiling = TilingOptions(target=Target(vector_bits=256, vector_registers=16, cores=2))
    outer, inner = explained(optimize(scop, PipelineOptions(tiling=tiling))).loops
    assert outer.done == ("runs as i + j", "in strips for threads", "on threads (j_tile)", "in lanes")
    assert not [words for words in (*outer.not_more, *inner.not_more) if words.startswith("no tiles")]


def test_what_holds_for_some_statements_names_them() -> None:
    """One loop of the schedule becomes two: that around S1 carries x, that around S2 is shared."""
    scop = from_c_text("""void f(int n, double A[n][n], double B[n][n], double x[n], double y[n]) {
#pragma scop
  for (int i = 1; i < n; i++) {
    for (int j = 0; j < n; j++)
      A[i][j] = 2 * B[i][j];
    x[i] = x[i-1] + A[i][0];
    y[i] = 3 * x[i];
  }
#pragma endscop
}""")
    outer, inner = explained(optimize(scop, PipelineOptions(vector_bits=256))).loops
    assert outer.done == ("on threads (i) for S0, S2", "for the compiler's lanes (omp simd) for S2")
    assert outer.not_more == (
        "not on threads for S1: it carries the flow dependence of x from S1[1] to S1[2] where n = 3",
        "no tiles for S0: they would save less than 10% of the traffic into L2",
        "no tiles for S1, S2: one loop alone has nothing to reuse between tiles")
    assert inner.done == ("in lanes",)


ROWS = """#include <math.h>
void f(int n, double a[n][n], double b[n][n], double c[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = exp(a[i][j]) * a[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i] += b[i][j];
#pragma endscop
}"""


@pytest.mark.parametrize(("math", "lanes"), [("vector", "in lanes"), ("libm", "for the compiler's lanes (omp simd)")])
def test_lanes_are_told_of_the_loop_that_has_them_and_whose_they_are(math: str, lanes: str) -> None:
    """The schedule has one nest, whose inner loop becomes one of vectors and one of a sum in its order."""
    _, first, _, second = explained(optimize(from_c_text(ROWS), PipelineOptions(math=math, vector_bits=256))).loops
    assert first.done == (lanes,)
    assert not any("lanes" in words for words in second.done)


def test_loops_that_emission_made_are_not_taken_for_the_first_of_the_region() -> None:
    """A clean-up loop over j behind register blocks has no mark, as the point loop over k."""
    made = optimize(from_c_text("""void lu(int n, double A[n][n]) {
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      A[i][k] /= A[k][k];
      for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
    }
#pragma endscop
}"""), PipelineOptions(vector_bits=512))
    outer, _, inner = explained(made).loops
    assert any(loop.variable == "j" and (loop.mark.band, loop.mark.member) == (0, 0)
               for loop in walk_nodes(made.source.loops) if isinstance(loop, For))
    assert not any("lanes" in words for words in outer.done)
    assert any("lanes" in words for words in inner.done)


def test_a_short_loop_that_was_written_out_is_said_to_be() -> None:
    region = """void g(int n, float out[restrict n], const float in[restrict n], const float k[restrict 5]) {
#pragma scop
  for (int x = 2; x < n - 2; x++) {
    float s = 0;
    for (int d = 0; d < 5; d++)
      s += in[x + d - 2] * k[d];
    out[x] = s;
  }
#pragma endscop
}"""
    made = optimize(from_c_text(region), PipelineOptions(tensorize=None))
    _, inner = explained(made).loops
    assert len(inner.statements) == 5
    assert inner.done == ("written out, a statement per iteration",)
    assert not inner.not_more
    assert not any(loop.done for loop in explained(replace(made, as_written="it stays as it is")).loops)
