"""Which pairs of iterations a loop puts in order, and which are left out."""

from __future__ import annotations

import islpy as isl

from polysched.dependence import analyse
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.statement_instances import Leaf, leaves_of
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

NEST = parse_loops("for a in range(0, n):\n    for b in range(1, n): S0(a, b)")


def program(body: str) -> Scop:
    return from_c_text(f"""void f(int n, double A[n][n], double s[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) {body}
#pragma endscop
}}""")


def own(scop: Scop) -> list[Leaf]:
    return list(leaves_of(NEST, (), Facts(context=scop.context)))


def test_a_recurrence_is_carried_by_its_own_loop_alone() -> None:
    scop = program("A[i][j] = A[i][j - 1] * 2;")
    dependences = analyse(scop)
    assert not list(carried_pairs(own(scop), 0, dependences))
    (pair,) = carried_pairs(own(scop), 1, dependences)
    assert pair is not None
    assert pair.is_equal(isl.Map("[n] -> { [a, b] -> [a, b + 1] : 0 <= a < n and 1 <= b < n - 1 }").intersect_params(
        scop.context))


def test_values_of_inner_loops_are_told_on_request() -> None:
    scop = program("A[i][j] = i == 0 ? 1 : A[i - 1][n - 1];")
    (pair,) = carried_pairs(own(scop), 0, analyse(scop), inner=1)
    assert pair is not None
    assert (pair.dim(isl.dim_type.in_), pair.dim(isl.dim_type.out)) == (2, 2)


def test_updates_of_a_reduction_do_not_count_where_they_may_change_places() -> None:
    scop = program("s[i] += A[i][j];")
    dependences = analyse(scop)
    assert list(carried_pairs(own(scop), 1, dependences))
    assert not list(carried_pairs(own(scop), 1, dependences, updates_of={"S0"}))


def test_ends_can_be_asked_for_at_some_leaves_alone() -> None:
    scop = program("A[i][j] = A[i][j - 1] * 2;")
    assert not list(carried_pairs(own(scop), 1, analyse(scop), sinks=()))
