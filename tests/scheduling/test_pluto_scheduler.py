"""Pluto's and Feautrier's algorithm: the rows that they find, and what they do when a budget runs out."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.dependence.legality import check_legal
from polysched.errors import UsageError
from polysched.scheduling import SchedulerOptions, pluto
from polysched.scheduling.pluto_scheduler import by_strategy, feautrier
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.strategy import Strategy
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text
from tests.scheduling.primitives.programs import product, stencil, two_loops


def rows(schedule: Schedule) -> list[str]:
    """The loops of a schedule, without their statements' places."""
    return [line.strip() for line in tree_text(schedule.tree).splitlines()
            if line.strip().startswith(("parallel", "sequential"))]


@pytest.mark.parametrize(("program", "expected"), [
    (product, ["parallel    S0: i", "parallel    S0: j", "sequential  S0: k"]),
    (stencil, ["sequential  S0: t", "sequential  S0: t + i"]), (two_loops, ["parallel    S0: i, S1: 1 + j"])])
def test_rows_of_least_distance(program: object, expected: list[str]) -> None:
    assert rows(pluto(program().dependences)) == expected


def test_feautriers_first_row_carries_all_that_one_can() -> None:
    made = feautrier(stencil().dependences)
    assert made.algorithm == "feautrier"
    first, second = rows(made)
    assert first.startswith("sequential")
    assert second.startswith("parallel"), "no dependence is left for the row below"


def test_every_rung_of_the_ladder_is_reported() -> None:
    reversed_copy = analyse(from_c_text("""void f(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = i;
  for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
#pragma endscop
}"""))
    made = pluto(reversed_copy, options=SchedulerOptions(fusion="max"))
    assert any(r.startswith("negative coefficients and parametric shifts for S0, S1") for r in made.report.rungs)
    assert pluto(reversed_copy, options=SchedulerOptions(fusion="none")).report.rungs == ()


def test_where_isl_runs_out_the_order_as_written_stays() -> None:
    given = stencil().dependences
    made = pluto(given, options=SchedulerOptions(isl_operations=200))
    assert any("isl ran out of" in r for r in made.report.rungs)
    check_legal(given, made.tree, what="what is left")


def test_input_dependences_that_were_not_analysed_are_refused() -> None:
    with pytest.raises(UsageError, match="input"):
        pluto(product().dependences, options=SchedulerOptions(input_dependences=True))


def test_a_strategy_keeps_statements_apart() -> None:
    given = two_loops().dependences
    assert len(rows(pluto(given))) == 1
    made = by_strategy(given, Strategy(apart=(("S0", "S1"),)))
    assert len(rows(made)) == 2
    with pytest.raises(UsageError, match="S7"):
        by_strategy(given, Strategy(apart=(("S0", "S7"),)))


def test_what_was_solved_is_counted() -> None:
    report = pluto(stencil().dependences).report
    assert report.solves >= 2
    assert report.variables > 0
    assert 0 <= report.solver_seconds <= report.total_seconds
