"""What never runs is not printed, and what always holds is not asked."""

from __future__ import annotations

import re

import islpy as isl
import pytest

from polysched.emit_c import CSource, EmitOptions, emit
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import (
    Comparison,
    constant,
    extreme,
    junction,
    of_atom,
    remainder,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, StatementInstance
from polysched.emit_c.nests.dead_code import without_dead_code
from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.nodes import conditions, on_a_copy, on_threads, reductions
from tests.schedules import pluto_of

N, J = variable("n"), variable("j")
BODY = StatementInstance("S", (J,))
REST = remainder(N, 8)
MACHINE = Target(vector_bits=512, vector_registers=32, cores=2)
FACTS = Facts(context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n, m] -> { : m >= 0 }"))


def loop(lower: int, upper: int, step: int = 1) -> For:
    return For("j", constant(lower), constant(upper), step, BODY)


@pytest.mark.parametrize(("node", "left"), [
    (loop(4, 4), Block(())),
    (loop(4, 12, 8), Let("j", constant(4), BODY)),
    (loop(4, 13, 8), loop(4, 13, 8)),
    (If(Comparison(">=", constant(3), constant(2)), BODY), BODY),
    (If(Comparison("<", variable("m"), constant(0)), BODY, loop(0, 9)), loop(0, 9)),
    (If(Comparison("<", N, constant(0)), loop(4, 4), BODY), If(Comparison(">=", N, constant(0)), BODY)),
    (If(junction("&&", [Comparison(">=", variable("m"), constant(0)), Comparison(">", N, constant(7))]), BODY),
     If(Comparison(">", N, constant(7)), BODY)),
    (Let("j", extreme("min", [N, constant(100)]), If(Comparison("<=", J, constant(112)), BODY, loop(4, 13))),
     Let("j", extreme("min", [N, constant(100)]), BODY)),
    (If(Comparison(">=", N, constant(8)), loop(0, 3), If(Comparison(">=", N, constant(9)), BODY)),
     If(Comparison(">=", N, constant(8)), loop(0, 3))),
])
def test_what_is_left(node: Node, left: Node) -> None:
    assert without_dead_code(node, FACTS) == left


def test_remainders_of_negative_numbers_are_those_of_c() -> None:
    """8 n + 4 leaves 4, but -4 where n is -1: short loops have no half vector behind their last whole one."""
    node = If(Comparison(">=", of_atom(remainder(N * 8 + 4, 8).terms[0][0]), constant(4)), BODY, loop(0, 2))
    assert without_dead_code(node, FACTS) == node
    assert without_dead_code(node, FACTS.given(Comparison(">=", N, constant(0)))) == BODY


PRODUCT = """void f(float C[96][100], float A[96][100], float B[100][100])
{
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 100; j++)
      for (int k = 0; k < 100; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
ROWS = """void f(float y[100], float x[100], float s[1])
{
#pragma scop
  for (int i = 0; i < 100; i++)
    y[i] = 2.0f * x[i];
  for (int i = 0; i < 100; i++)
    s[0] += x[i];
#pragma endscop
}
"""


def emitted(text: str, **options: object) -> CSource:
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE, **options))
    return emit(tiled, options=EmitOptions(vector_bits=512, reassociate=True))


def test_constant_sizes_are_decided_before_printing() -> None:
    source = emitted(PRODUCT, sizes=(48, 100, 100))
    assert all(variables(found.condition) for found in conditions(source.loops))
    assert not re.search(r"if\(0\)|if\(parallel: \d", source.text), source.text
    cut = {lanes.count for lanes in (tile.edges[-1] for tile in on_a_copy(source.loops))}
    assert len(cut) == 1, "the last columns are 4 of 48, so one width of vectors serves them"
    assert len(on_threads(source.loops)) == 1


def test_no_team_is_asked_for_where_there_is_never_enough_to_do() -> None:
    source = emitted(ROWS)
    assert not reductions(source.loops)
    assert "parallel" not in source.text, source.text
