"""Recurrences along independent rows, on the loop IR: blocks of rows, and what stays as it is."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.loops import For, Node, RegisterTile
from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.nests.recurrent_rows import RecurrentRows
from polysched.emit_c.nests.unroll_and_jam import unroll_and_jam
from polysched.scop import from_c_text
from polysched.tiling.tree.rows_in_step import ROWS

HEAD = "void f(int n, float A[restrict n][n], float x[restrict n])\n{\n#pragma scop\n"
BODY = "for (int i = 0; i < n; i++)\n  for (int j = 1; j < n; j++)\n    "
ALONG = "A[i][j] += A[i][j - 1] / x[j];"
NEST = "for i in range(0, n):\n    for j in range(1, n):\n        {name}(i, j)\n"


def jammed(statement: str = ALONG, nest: str = NEST, *, has_form: bool = True, promotes: bool = False) -> Node:
    scop = from_c_text(HEAD + BODY + statement + "\n#pragma endscop\n}\n")
    rows = RecurrentRows(dependences=analyse(scop), taken=taken_names(scop), has_form=lambda *_: has_form,
                         promotes=lambda *_: promotes)
    loops = parse_loops(nest.format(name=scop.statements[0].name))
    return unroll_and_jam(loops, Facts(context=scop.context), rows)


def tiles(node: Node) -> list[RegisterTile]:
    return [n for n in walk_nodes(node) if isinstance(n, RegisterTile)]


def test_rows_go_side_by_side_and_the_last_ones_alone() -> None:
    made = jammed()
    (tile,) = tiles(made)
    assert [(e.variable, e.count, e.simd) for e in tile.edges] == [("i", ROWS, False)]
    assert [loop.variable for loop in tile.loops] == ["j"]
    steps = [n.step for n in walk_nodes(made) if isinstance(n, For) and n.variable == "i"]
    assert steps == [ROWS, 1]


@pytest.mark.parametrize(("statement", "why"), [
    ("A[i][j] += A[i - 1][j] / x[j];", "rows depend on each other"),
    ("A[i][j] += 2 * x[j];", "no recurrence"),
    ("A[i][j] += A[i][j - 1] / x[j] + A[j][i];", "other rows are read"),
])
def test_other_rows_stay(statement: str, why: str) -> None:
    assert tiles(jammed(statement)) == [], why


@pytest.mark.parametrize("given", [{"has_form": False}, {"promotes": True}])
def test_rows_that_print_or_sum_otherwise_stay(given: dict[str, bool]) -> None:
    assert tiles(jammed(**given)) == []


@pytest.mark.parametrize("nest", [
    NEST.replace("range(1, n)", "range(1, i)"),
    NEST.replace("range(1, n)", "range(1, n, 2)"),
    NEST.replace("range(1, n)", "range(1, n, mark='role=loop simd=1')"),
    NEST.replace("range(0, n)", "range(0, n, guard=condition(i < n))"),
])
def test_nests_of_another_shape_stay(nest: str) -> None:
    assert tiles(jammed(nest=nest)) == []
