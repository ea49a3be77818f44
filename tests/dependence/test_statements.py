"""A program of some statements: their part of the schedule, and the temporaries that they use."""

from __future__ import annotations

import islpy as isl

from polysched.dependence.statements import with_statements
from polysched.scop import from_c_text

SCOP = from_c_text("""void f(int n, double x[n], double y[n]) {
#pragma scop
  double t[n], u[n];
  for (int i = 0; i < n; i++)
    t[i] = x[i];
  for (int i = 0; i < n; i++)
    u[i] = t[i];
  for (int i = 0; i < n; i++)
    y[i] = u[i];
#pragma endscop
}
""")


def test_other_statements_and_their_temporaries_are_gone() -> None:
    made = with_statements(SCOP, SCOP.statements[:1])
    assert [s.name for s in made.statements] == ["S0"]
    assert made.schedule.get_domain().is_equal(isl.UnionSet.from_set(SCOP.statements[0].domain))
    assert [a.name for a in made.arrays if a.is_temporary] == ["t"]
    assert {"x", "y"} <= {a.name for a in made.arrays}, "arguments stay, used or not"


def test_all_statements_are_the_program() -> None:
    made = with_statements(SCOP, SCOP.statements)
    assert made.schedule.get_map().is_equal(SCOP.schedule.get_map())
    assert made.arrays == SCOP.arrays


def test_another_schedule_is_cut_to_the_domains() -> None:
    reversed_ = isl.Schedule.read_from_str(
        isl.DEFAULT_CONTEXT, '{ domain: "[n] -> { S0[i] : 0 <= i < n; S9[i] : 0 <= i < n }", child: { schedule: '
        '"[{ S0[i] -> [-i]; S9[i] -> [i] }]" } }')
    made = with_statements(SCOP, SCOP.statements[:1], schedule=reversed_)
    assert made.schedule.get_domain().is_subset(isl.UnionSet.from_set(SCOP.statements[0].domain))
    assert "-i" in str(made.schedule.get_map())
