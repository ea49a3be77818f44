"""Schedule tree -> loop IR: the loops, what was given up, and refusals of loops that visit something else."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.generation import loop_generation
from polysched.emit_c.generation.loop_generation import generate_loops
from polysched.emit_c.loop_ir.loops import Block, Node
from polysched.emit_c.loop_ir.text import loop_text
from polysched.errors import BudgetExceededError, NoLoopsError
from polysched.tiling import TiledSchedule, TilingOptions, tile
from tests.schedules import original_of

TEXT = """void f(int n, float A[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      A[i][j] = 1.0f;
#pragma endscop
}
"""
CONTEXT = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 1 }")


def tiled() -> TiledSchedule:
    return tile(original_of(TEXT), TilingOptions(sizes="off", parallel=False, simd=False))


def test_loops_of_a_triangle() -> None:
    loops, fallbacks = generate_loops(tiled(), context=CONTEXT, max_operations=100_000)
    assert fallbacks == ()
    (name,) = {s.name for s in tiled().schedule.scop.statements}
    heads = [line.split(",")[0] + line[line.index("range"):].split(", mark")[0] for line in
             loop_text(loops).splitlines() if "range" in line]
    assert "range(0, n" in heads[0]
    assert "range(polysched_c0, n" in heads[1]
    assert f"{name}(polysched_c0, polysched_c1)" in loop_text(loops)


def test_loops_that_miss_instances_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: isl.AstNode) -> Node:
        return Block(())
    monkeypatch.setattr(loop_generation, "read_ast", nothing)
    monkeypatch.setattr(loop_generation, "visits_every_instance", lambda loops, scop: loops != Block(()))
    with pytest.raises(NoLoopsError, match="did not visit every instance") as refused:
        generate_loops(tiled(), context=CONTEXT, max_operations=100_000)
    assert refused.value.where == "f"
    assert "dense iterators" in refused.value.hint


def test_loops_in_another_order_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_generation, "keeps_order", lambda *_: False)
    with pytest.raises(NoLoopsError, match="ahead of what they depend on"):
        generate_loops(tiled(), context=CONTEXT, max_operations=100_000)


def test_a_budget_that_is_too_small() -> None:
    with pytest.raises(BudgetExceededError):
        generate_loops(tiled(), context=CONTEXT, max_operations=2)
