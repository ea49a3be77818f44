"""Loops that fill buffers of sums follow the buffers; sums keep their registers beside constants of last steps."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.loops import For, RegisterTile, StatementInstance
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.pass_history import pass_history
from polysched.pipeline import Optimized, PipelineOptions, optimize
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target import Target
from polysched.tiling import TilingOptions
from tests.emit_c.test_epilogues import relu

AVX2 = PipelineOptions(vector_bits=256, tensorize=None, tiling=TilingOptions(
    target=Target(vector_bits=256, vector_registers=16, cores=2)))
TEXT = """void f(const float w[restrict 32][40], const float x[restrict 40][20], float y[restrict 32][20])
{{
float t[32][20];
#pragma scop
for (int c = 0; c < 32; c++)
  for (int j = 0; j < 20; j++)
    t[c][j] = {start};
for (int c = 0; c < 32; c++)
  for (int j = 0; j < 20; j++)
    for (int k = 0; k < 40; k++)
      t[c][j] += w[c][k] * x[k][j];
for (int c = 0; c < 32; c++)
  for (int j = 0; j < 20; j++)
    y[c][j] = t[c][j] + 1;
#pragma endscop
}}
"""


def optimised(scop: Scop) -> Optimized:
    return optimize(scop, AVX2)


def lanes_of(made: Optimized, statement: str) -> set[str]:
    """The variables in lanes around a statement behind the pass."""
    (record,) = [r for r in pass_history(made.tiled, AVX2.emit_options()) if r.loop_pass.name == "buffer_lanes"]
    return {loop.variable for loop in walk_nodes(record.after) if isinstance(loop, For) and loop.mark.simd
            and isinstance(loop.body, StatementInstance) and loop.body.statement == statement}


def test_start_values_of_a_buffer_go_along_its_rows() -> None:
    made = optimised(relu(32, 12))
    start = next(s.name for s in made.tiled.schedule.scop.statements if not s.reads)
    assert lanes_of(made, start) == {"c"}, made.text


def test_last_steps_on_another_array_keep_its_order() -> None:
    made = optimised(relu(32, 12))
    end = made.tiled.schedule.scop.statements[-1].name
    assert "c" not in lanes_of(made, end), made.text


@pytest.mark.parametrize("start", ["0", "w[c][0]"])
def test_a_buffer_in_the_order_of_its_array_is_left_alone(start: str) -> None:
    made = optimised(from_c_text(TEXT.format(start=start)))
    context = [r for r in pass_history(made.tiled, AVX2.emit_options()) if r.loop_pass.name == "buffer_lanes"]
    assert [r.changed for r in context] == [False], made.text


def test_registers_are_empty_before_sums_of_a_buffer_and_only_there() -> None:
    made = optimised(relu(32, 12))
    tiles = [n for n in walk_nodes(made.source.loops) if isinstance(n, RegisterTile) and n.loops]
    assert made.text.count("polysched_empty_registers_16();") == len(tiles) > 0, made.text
    own = optimised(from_c_text(TEXT.format(start="0").replace("float t[32][20];", "").replace(
        "float y[restrict 32][20])", "float y[restrict 32][20], float t[restrict 32][20])")))
    assert "register tile" in own.text
    assert "empty_registers" not in own.text, own.text


def test_registers_are_emptied_once_ahead_of_a_branch_between_tiles() -> None:
    """Emptied in each arm, gcc 12 spills four of twelve sums of 6 x 16 in every iteration: half the speed."""
    made = optimised(relu(22, 12))
    tiles = [n for n in walk_nodes(made.source.loops) if isinstance(n, RegisterTile) and n.loops]
    lines = [line.strip() for line in made.text.splitlines()]
    emptied = [at for at, line in enumerate(lines) if line == "polysched_empty_registers_16();"]
    assert len(tiles) == 2
    assert len(emptied) == 1, made.text
    assert lines[emptied[0] + 1].startswith("if ("), made.text
