"""Whether what an operand reads is left alone while a loop runs."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, constant, variable
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.register_tiles.kept_values import keeps_value, within_edges
from polysched.emit_c.register_tiles.register_nests import register_nest
from polysched.scop import from_c_text

TEXT = """void f(int n, double A[n][n], int at[n]) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      for (int k = 0; k < j; k++)
        A[{write}] -= A[i][k] * {read};
#pragma endscop
}}
"""


def kept(read: str = "A[j][k]", write: str = "i][j", *, body: str = "S(i, j, k)") -> bool:
    """Whether the loop over i, in a block of columns from c on, leaves alone what it reads."""
    return kept_in(TEXT.format(read=read, write=write), body.replace("S(", "S0("))


def kept_in(program: str, body: str) -> bool:
    scop = from_c_text(program)
    statement = scop.statements[0]
    loop = parse_loops(f"for i in range(c + 8, n):\n    {body}")
    assert isinstance(loop, For)
    access = [a for a in statement.reads if a.array == "A"][-1]
    j, k, c = variable("j"), variable("k"), variable("c")
    outside = Facts(context=scop.context).given(Comparison(">=", c, constant(0)))
    reading = outside.inside(loop).given(Comparison(">=", j, c), Comparison("<", j, c + 8),
                                         Comparison(">=", k, constant(0)), Comparison("<", k, j))
    iterators = {"i": variable("i"), "j": j, "k": k}
    return keeps_value(scop, access, iterators, loop, reading=reading, outside=outside)


CALLS = """void scale(int n, double *x);
#pragma polysched effects scale(n, x) reads x[0:n] writes x[0:n]
void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 0; i < n - 8; i++) {
    for (int j = 0; j < i; j++)
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j + 8][k + 1];
    scale(n, A[i]);
  }
#pragma endscop
}
"""


def test_a_row_that_a_function_writes_is_not_its_first_element() -> None:
    assert not kept_in(CALLS, "S1(i)")


INSIDE = "for j in range(c, c + 8):\n        S(i, j, 0)"


def test_rows_above_are_left_alone_by_rows_below() -> None:
    assert kept(body=INSIDE), "i is at least c + 8 and j is less"


def test_a_row_that_is_written_is_not() -> None:
    assert not kept("A[j + 8][k]", body=INSIDE.replace("c, c + 8", "0, c + 8"))


def test_branches_and_blocks_inside_are_looked_through() -> None:
    assert kept(body="if i > c:\n        S(i, 0, 0)\n    else:\n        S(i, 1, 0)")
    assert not kept(body="if i > c:\n        S(i, 0, 0)\n    else:\n        S(j, k, 0)")


def test_a_subscript_that_is_read_from_memory_may_be_anything() -> None:
    assert not kept("A[at[j]][k]", body=INSIDE)
    assert not kept(write="at[i]][j", body=INSIDE)


def test_what_no_loop_writes_keeps_its_value() -> None:
    assert kept(body="pass")


@pytest.mark.parametrize(("lower", "upper"), [("4*a", "min(4*a + 4, n)"), ("max(4*a, 1)", "4*a + 4")])
def test_the_points_of_a_tile_are_inside_all_bounds_of_its_edges(lower: str, upper: str) -> None:
    scop = from_c_text(TEXT.format(read="A[j][k]", write="i][j"))
    top = parse_loops(f"for k in range(0, n):\n    for i in range({lower}, {upper}, mark='role=point register=1 "
                      "unroll=4'):\n        S(i, 0, k)\n")
    assert isinstance(top, For)
    nest = register_nest(top)
    assert nest is not None
    i, a, n = variable("i"), variable("a"), variable("n")
    facts = within_edges(Facts(context=scop.context), nest.ranges)
    assert facts.imply(Comparison(">=", i, a * 4))
    assert facts.imply(Comparison("<", i, a * 4 + 4))
    assert facts.imply(Comparison("<", i, n)) is ("min" in upper)
    assert facts.imply(Comparison(">=", i, constant(1))) is ("max" in lower)
