"""Every pass on a program on which it does something: the loops before and after it, as goldens.

`--update-golden` rewrites them; they are reviewed as diffs.  The emission itself runs the same tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.loop_ir.loops import For, Node
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.text import loop_text
from polysched.emit_c.loop_ir.traversal import map_children
from polysched.emit_c.pass_history import PassRecord, pass_history
from polysched.emit_c.passes import CODE, STRUCTURE, LoopPass, all_passes
from polysched.errors import BrokenLoopsError
from polysched.pipeline import analysed
from polysched.scheduling import SchedulerOptions, original, pluto
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling import TiledSchedule, TilingOptions, tile
from tests.emit_c.convolutions import convolution

GOLDEN = Path(__file__).parent / "golden" / "passes"
MACHINE = Target(vector_bits=256, vector_registers=16, cores=2)
HEAD = ("void f(int n, int m, float A[restrict n][n], float B[restrict n][n], float x[restrict n],\n"
        "       float y[restrict n], float z[restrict 3 * n], int b[restrict n], int r[restrict 4])\n{\n#pragma scop\n")
LONG_ROWS = "void f(const float x[restrict 6][1030], float y[restrict 6][1030])\n{\n#pragma scop\n"
SOFTMAX = """#include <math.h>
void f(const float x[restrict 2002][203], float y[restrict 2000][203])
{
#pragma scop
for (int i = 0; i < 2000; i++) {
    float e[203];
    float largest = x[i][0];
    for (int j = 0; j < 203; j++)
      largest = x[i][j] > largest ? x[i][j] : largest;
    for (int j = 0; j < 203; j++)
      e[j] = expf(x[i][j] - largest);
    for (int j = 0; j < 203; j++)
      y[i][j] = e[j];
}"""
CHANNELS = """void f(const float x[restrict 5][14][14], const float w[restrict 32][5][3][3],
       float y[restrict 32][12][12])
{
float t[32][12][12];
#pragma scop
for (int c = 0; c < 32; c++)
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++)
      t[c][i][j] = 0;
for (int c = 0; c < 32; c++)
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++)
      for (int d = 0; d < 5; d++)
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            t[c][i][j] += w[c][d][r][s] * x[d][i + r][j + s];
for (int c = 0; c < 32; c++)
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++)
      y[c][i][j] = t[c][i][j] + 1;"""
TAIL = "\n#pragma endscop\n}\n"
RINGS = SchedulerOptions(fusion="max", split_index_sets=True)
VECTORS = EmitOptions(vector_bits=256, verify_passes=True)


@dataclass(frozen=True, kw_only=True)
class Example:
    """A program, and how it is scheduled and tiled, on which a pass does something."""

    body: str
    head: str = HEAD
    pluto: bool = False
    halves: bool = False
    sizes: int | str = "off"
    expand: bool = False
    options: EmitOptions = VECTORS

    def tiled(self) -> TiledSchedule:
        scop = from_c_text(self.body if "#pragma scop" in self.body else self.head + self.body + TAIL)
        dependences = analysed(scop).dependences if self.expand else analyse(scop)
        schedule = pluto(dependences, options=RINGS) if self.halves else (
            pluto(dependences) if self.pluto else original(dependences))
        return tile(schedule, TilingOptions(sizes=self.sizes, target=MACHINE))


ROWS = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    "
INNER = "for (int i = 1; i < n - 1; i++)\n  for (int j = 1; j < n - 1; j++)\n    "
EXAMPLES = {
    "conditional_pieces": Example(body="for (int t = 0; t < m; t++) {\n  for (int i = 0; i < n; i++)\n"
                                       "    y[i] = x[i] + x[(i + 1) % n] + x[(i + n - 1) % n];\n"
                                       "  for (int i = 0; i < n; i++)\n    x[i] = y[i];\n}", halves=True),
    "whole_steps": Example(body="for (int j = 0; j <= n - 8; j += 8)\n  for (int k = 0; k < 8; k++)\n"
                                "    y[0] += x[j + k];", pluto=True),
    "unskew": Example(body="for (int t = 0; t < m; t++)\n  for (int i = 1; i < n - 1; i++)\n"
                           "    x[i] = x[i - 1] + x[i] + x[i + 1];", pluto=True, sizes=16),
    "unit_steps": Example(body="for (int i = 0; i < 3 * n; i += 3)\n  y[i / 3] = z[i];"),
    "subscripts_by_case": Example(body=ROWS + "A[i][j] = B[(i + 1) % n][j] + B[i][(j + n - 1) % n];"),
    "name_loops": Example(body="for (int i = 0; i < n; i++)\n  x[i] = 2 * x[i];"),
    "split_at_pivots": Example(body="for (int k = 0; k < n; k++)\n  for (int i = 0; i < n; i++)\n"
                                    "    for (int j = 0; j < n; j++)\n      A[i][j] += 3 * x[i] * A[k][j];",
                               pluto=True),
    "array_contraction": Example(body="for (int i = 0; i < n; i++) {\n  float t = x[i] + 1;\n  y[i] = t * t;\n}",
                                 expand=True),
    "buffer_lanes": Example(body=CHANNELS + TAIL, pluto=True, sizes="auto", expand=True),
    "thread_reductions": Example(body="for (int i = 0; i < n; i++)\n  r[0] += b[i];"),
    "register_tiles": Example(body=ROWS + "for (int k = 0; k < n; k++)\n      A[i][j] += B[i][k] * B[k][j];".replace(
        "B[k][j]", "z[k + j]"), pluto=True, sizes=16),
    "neighbouring_rows": Example(body=f"for (int t = 0; t < m; t++) {{\n{INNER}B[i][j] = A[i][j] + A[i - 1][j] + "
                                      f"A[i + 1][j];\n{INNER}A[i][j] = B[i][j] + B[i - 1][j] + B[i + 1][j];\n}}",
                                 pluto=True, sizes=16),
    "summed_rows": Example(body=ROWS + "y[j] += A[i][j] * x[i];"),
    "vectorise": Example(body=ROWS + "A[i][j] = 2 * B[i][j];", pluto=True),
    "lane_reductions": Example(body="for (int i = 0; i < n; i++)\n  r[0] += b[i];",
                               options=EmitOptions(vector_bits=256, openmp=False, verify_passes=True)),
    "addends_in_lanes": Example(head="void f(int n, double r[1], double a[n], double b[n], double c[n])\n{\n"
                                     "#pragma scop\n",
                                body="for (int i = 0; i < n; i++)\n  r[0] += c[i] > 0.5 ? a[i] : b[i];"),
    "lagging_rows": Example(body=INNER + "A[i][j] = A[i][j - 1] * x[j] + A[i - 1][j];"),
    "growing_rows": Example(body="for (int i = 0; i < n; i++)\n  for (int j = 0; j < i; j++)\n"
                                 "    x[i] -= A[i][j] * x[j];"),
    "recurrent_rows": Example(body="for (int i = 0; i < n; i++)\n  for (int j = 1; j < n; j++)\n"
                                   "    A[i][j] += A[i][j - 1] / x[j];"),
    "scalar_replacement": Example(body=ROWS + "y[i] += A[i][j] * x[j];", pluto=True,
                                  options=EmitOptions(vector_bits=256, openmp=False, verify_passes=True)),
    "independent_rows": Example(body=ROWS + "y[i] += A[i][j] * x[j];", pluto=True),
    "dead_code": Example(body="for (int i = 0; i < 3; i++)\n  for (int j = 0; j < i; j++)\n"
                              "    x[i] -= A[i][j] * x[j];"),
    "nontemporal_stores": Example(head=LONG_ROWS, body="for (int i = 0; i < 6; i++)\n"
                                  "  for (int j = 0; j < 1030; j++)\n    y[i][j] = 3 * x[i][j] + 1;",
                                  options=EmitOptions(vector_bits=256, last_cache_bytes=4096, verify_passes=True)),
    "prefetch_rows": Example(body=SOFTMAX + TAIL, expand=True),
    "turned_rows": Example(body=convolution(14), pluto=True, sizes="auto"),
    "strided_loops": Example(body="for (int i = 0; i < n; i++)\n  A[i][0] += 3 * B[i][0];",
                             options=EmitOptions(vector_bits=256, simd=False, openmp=False, verify_passes=True)),
    "tile_boundaries": Example(body="x[0] = 1;\n" + ROWS + "A[i][j] += x[0] * B[i][j];", pluto=True, sizes=16,
                               options=EmitOptions(vector_bits=256, preemptible=True, verify_passes=True)),
    "parameter_guard": Example(body=ROWS.replace("j < n", "j < m") + "A[i][j] = 0;", pluto=True, sizes=16),
}


def record_of(name: str) -> PassRecord:
    example = EXAMPLES[name]
    (found,) = [r for r in pass_history(example.tiled(), example.options) if r.loop_pass.name == name]
    return found


def test_every_pass_has_an_example() -> None:
    assert list(EXAMPLES) == [each.name for each in all_passes()]


@pytest.mark.parametrize("name", EXAMPLES)
def test_before_and_after(name: str, golden: Callable[[Path, str], None]) -> None:
    record = record_of(name)
    assert record.changed
    before, after = loop_text(record.before), loop_text(record.after)
    assert parse_loops(before) == record.before
    assert parse_loops(after) == record.after
    golden(GOLDEN / f"{name}.txt", f"{EXAMPLES[name].body}\n\n-- before {name}\n{before}\n-- after {name}\n{after}")


@pytest.mark.parametrize("name", ["vectorise", "register_tiles", "array_contraction"])
def test_the_emission_prints_what_the_passes_made(name: str) -> None:
    example = EXAMPLES[name]
    tiled = example.tiled()
    assert emit(tiled, options=example.options).loops == pass_history(tiled, example.options)[-1].after


def test_a_pass_whose_needs_do_not_hold_does_not_run() -> None:
    example = EXAMPLES["vectorise"]
    scalar = replace(example.options, vector_bits=0, openmp=False)
    ran = {r.loop_pass.name for r in pass_history(example.tiled(), scalar)}
    assert ran == {each.name for each in all_passes()} - {
        each.name for each in all_passes()
        if {"vectors", "threads", "code that can be stopped"} & {need.words for need in each.needs}}


def test_a_pass_of_ones_own_runs_last_and_is_verified() -> None:
    def steps(node: Node, _: object) -> Node:
        return replace(node, step=-1) if isinstance(node, For) else map_children(node, lambda child: steps(child, _))

    broken = LoopPass("backwards", "Counts down, which no loop does.", steps)
    example = EXAMPLES["name_loops"]
    with pytest.raises(BrokenLoopsError, match="pass backwards broke the loop IR") as refused:
        emit(example.tiled(), options=example.options, also=(broken,))
    assert "the step -1 is not positive" in refused.value.witness
    assert broken not in (*STRUCTURE, *CODE)
