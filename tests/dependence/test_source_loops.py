"""Loops of the program as written: which iterations of several statements belong together."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind
from polysched.dependence.source_loops import (
    SourceLoop,
    equal_counters,
    every_read_has_a_writer,
    shared_loops,
    stays_inside,
    subscripted_by,
)
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

HEAD = "void f(int n, double x[n][n], double y[n]) {\n#pragma scop\n"
TAIL = "\n#pragma endscop\n}\n"
NESTED = "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < n; j++) y[i] += x[i][j]; x[i][i] = y[i]; }"
APART = "for (int i = 0; i < n; i++) y[i] = 0; for (int i = 0; i < n; i++) y[i] += x[i][i];"
DOWN = "for (int i = n - 1; i >= 0; i--) { y[i] = 0; y[i] += x[i][i]; }"


def program(body: str) -> Scop:
    return from_c_text(HEAD + body + TAIL)


def test_loops_around_some_statements() -> None:
    scop = program(NESTED)
    (outer,) = shared_loops(scop, ["S0", "S1"])
    assert outer.counters == {"S0": (0, 0), "S1": (0, 0)}
    assert [set(loop.counters) for loop in shared_loops(scop, ["S1"])] == [{"S1"}, {"S1"}]
    assert list(shared_loops(program(APART), ["S0", "S1"])) == []


def test_bystanders_are_told_where_they_stand() -> None:
    (outer,) = shared_loops(program(NESTED), ["S0", "S2"], bystanders=True)
    assert set(outer.counters) == {"S0", "S1", "S2"}


def test_loops_that_count_down() -> None:
    (loop,) = shared_loops(program(DOWN), ["S0", "S1"])
    assert loop.sign == -1


@pytest.mark.parametrize(("body", "inside"), [(NESTED, True), (NESTED.replace("y[i] +=", "y[i] += y[0] *"), False)])
def test_dependences_inside_an_iteration(body: str, inside: bool) -> None:
    made = analyse(program(body))
    (loop,) = shared_loops(made.scop, ["S0", "S1"])
    flow = [p for p in made.pairs if p.kind is DependenceKind.FLOW and p.source in ("S0", "S1") and p.sink == "S1"]
    assert flow
    assert all(stays_inside(p, loop) for p in flow) is inside


def test_pairs_of_equal_counters() -> None:
    pair = analyse(program(NESTED)).pairs[0].relation
    together = equal_counters(pair, (0, 1), (0, 0))
    assert together.is_subset(pair)
    assert together.is_empty(), "of an iteration and the next one, which this pair does not join"


def test_an_array_with_a_dimension_for_the_loop() -> None:
    scop = program(NESTED)
    read = next(a for a in scop.statement("S1").reads if a.array == "x")
    assert subscripted_by(read, (0, 0))
    assert subscripted_by(read, (1, 0))
    assert not subscripted_by(read, (0, 1))


def test_reads_without_a_writer() -> None:
    made = analyse(program(NESTED))
    flow = [p for p in made.pairs if p.kind is DependenceKind.FLOW]

    def accesses(array: str) -> list:
        return [(s, a) for s in made.scop.statements for a in s.accesses if a.array == array]
    assert every_read_has_a_writer(made.scop, accesses("y"), flow)
    assert not every_read_has_a_writer(made.scop, accesses("x"), flow), "x comes from outside"
    assert not every_read_has_a_writer(made.scop, accesses("y"), [])


def test_a_loop_is_a_value() -> None:
    assert SourceLoop({"S0": (0, 1)}) == SourceLoop({"S0": (0, 1)}, 1)
