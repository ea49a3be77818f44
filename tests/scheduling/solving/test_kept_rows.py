"""When the budget of a schedule is spent, the rows that were found in time are kept and the rest stays as written."""

from collections.abc import Mapping
from typing import Any

import islpy as isl
import pytest

from polysched.dependence import analyse, violation
from polysched.scheduling import Schedule, SchedulerOptions, pluto, pluto_scheduler
from polysched.scheduling.solving.search import Band, Search, find_band
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text

BUDGET = SchedulerOptions(isl_operations=40_000)

CHAIN = """void chain(int n, double A[n][n], double B[n][n], double y[n]) {
#pragma scop
for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
        A[i][j] = A[i][j] + 1.0;
for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
        B[i][j] = B[i][j - 1] * A[i][j];
for (int i = 0; i < n; i++)
    y[i] = B[i][n - 1];
#pragma endscop
}"""

OVER_TIME = """void f(int steps, int n, double a[n], double b[n]) {
#pragma scop
for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
        a[i] = a[i] + b[n - 1 - i] + b[i];
    for (int i = 0; i < n; i++)
        b[i] = b[i] + a[n - 1 - i] + a[i];
}
#pragma endscop
}"""


def spent_at(monkeypatch: pytest.MonkeyPatch, statement: str, depth: int, text: str) -> Schedule:
    """Pluto's schedule when the band of a statement below `depth` rows takes all that is left of the budget."""
    def search_band(search: Search, components: tuple[tuple[str, ...], ...], active: list[Any],
                    found: Mapping[str, Any], **more: Any) -> Band | None:
        while components == ((statement,),) and len(found[statement]) == depth:
            isl.Set("{ [i] : 0 <= i < 10 }").lexmin()
        return find_band(search, components, active, found, **more)

    monkeypatch.setattr(pluto_scheduler, "find_band", search_band)
    schedule = pluto(analyse(from_c_text(text)), options=BUDGET)
    assert violation(schedule.dependences, schedule.tree) is None
    return schedule


def test_bands_found_in_time_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = spent_at(monkeypatch, "S1", 0, CHAIN)
    assert schedule.report.rungs == (
        "isl ran out of 40000 isl operations or 30 s: the rows found in time are kept; as written below them: S1, S2",)
    assert tree_text(schedule.tree) == """sequence
  S0
    band permutable
      parallel    S0: j
      parallel    S0: i
  S1
    band permutable
      parallel    S1: i
      band permutable
        sequential  S1: j
  S2
    band permutable
      parallel    S2: i
"""


def test_rows_above_what_was_not_decided_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop as written over time is gone: the row above has its value."""
    schedule = spent_at(monkeypatch, "S1", 1, OVER_TIME)
    assert schedule.report.rungs[-1].endswith("the rows found in time are kept; as written below them: S1")
    assert tree_text(schedule.tree) == """band permutable
  sequential  S0: t, S1: t
  sequence
    S0
      band permutable
        parallel    S0: i
    S1
      band permutable
        parallel    S1: i
"""


@pytest.mark.parametrize("operations", [1_500, 2_500])
def test_wherever_the_budget_ends_the_order_is_legal(operations: int) -> None:
    schedule = pluto(analyse(from_c_text(CHAIN)), options=SchedulerOptions(isl_operations=operations))
    assert violation(schedule.dependences, schedule.tree) is None
    assert f"isl ran out of {operations} isl operations" in schedule.report.rungs[-1]


def test_nothing_found_is_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = spent_at(monkeypatch, "S0", 0, CHAIN)
    assert schedule.report.rungs == ("as written: isl ran out of 40000 isl operations or 30 s",)
