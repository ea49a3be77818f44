"""Code plans of a stitched kernel: ranked by the projected model, taken in that order, explained."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.errors import BudgetExceededError
from polysched.scheduling import ALGORITHMS, steps
from polysched.scop import from_c_text
from polysched.target.target import CacheLevel, Target
from polysched.tiling.stitch import code_plans, stitch
from tests.scheduling.primitives import stitched_programs as programs

MACHINE = Target(cores=2, caches=(CacheLevel(level=1, size_bytes=1 << 15), CacheLevel(level=2, size_bytes=1 << 19),
                                  CacheLevel(level=3, size_bytes=1 << 23, shared_by=2)))


def scheduled(text):
    return ALGORITHMS["original"](analyse(from_c_text(text)))


@pytest.mark.parametrize(("text", "dominant"), [
    (programs.LAYER_NORM, "S4"), (programs.SOFTMAX, "S5"), (programs.TWO, "S4"), (programs.ATTENTION, "S9")])
def test_the_cheapest_plan_is_taken(text, dominant):
    schedule = scheduled(text)
    found = stitch(schedule, MACHINE)
    assert found is not None
    assert found.plan.step.dominant == dominant
    assert found.schedule.steps == (found.plan.step,)
    plans = code_plans(schedule, MACHINE)
    assert plans[0].step == found.plan.step
    assert [p.seconds for p in plans] == sorted(p.seconds for p in plans)


def test_scratch_that_leaves_the_cache_costs_bytes():
    plans = {plan.step.sizes: plan for plan in code_plans(scheduled(programs.TWO), MACHINE)}
    assert plans[128,].scratch_bytes == 128 * 1024 * 4
    assert plans[128,].bytes_moved > plans[4,].bytes_moved
    assert not plans[4,].again


def test_recomputation_is_counted_and_said():
    plans = code_plans(scheduled(programs.BLUR), MACHINE)
    again = {plan.step.sizes: plan.again["S0"] for plan in plans}
    assert again[16,] == pytest.approx(0.125, abs=0.01)
    assert again[64,] < again[8,]
    assert (1,) not in again   # two rows of three would be computed again
    text = str(plans[0])
    assert all(word in text for word in ("bytes", "operations", "again", "scratch", "bound by"))


def test_a_plan_that_isl_cannot_decide_makes_room_for_the_next(monkeypatch):
    schedule = scheduled(programs.LAYER_NORM)
    first, second = code_plans(schedule, MACHINE)[:2]
    known = steps.apply

    def apply(before, step):
        if step == first.step:
            raise BudgetExceededError("not decided", where="here")
        return known(before, step)

    monkeypatch.setattr(steps, "apply", apply)
    found = stitch(schedule, MACHINE)
    assert found is not None
    assert found.plan.step == second.step
    assert [plan.step for plan, _ in found.refused] == [first.step]


def test_a_program_of_several_results_without_a_common_tile_has_no_plan():
    text = """
void f(int n, double x[n], double y[n], double z[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 2.0 * x[i];
  for (int i = 0; i < n; i++)
    z[i] = 3.0 * x[i];
#pragma endscop
}
"""
    assert code_plans(scheduled(text), MACHINE) == ()
    assert stitch(scheduled(text), MACHINE) is None


LONG = """
void f(float x[16][65536], float y[16][65536]) {
  float e[16][65536], s[16];
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 65536; j++)
      e[i][j] = x[i][j] * x[i][j];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 65536; j++)
      y[i][j] = e[i][65535 - j];
#pragma endscop
}
"""


def test_few_rows_of_long_ones_are_candidates():
    sizes = {plan.step.sizes for plan in code_plans(scheduled(LONG), MACHINE)}
    assert {(1, 1), (1, 8), (1, 32)} <= sizes


ROWS = """
void f(float x[{rows}][64], float y[{rows}][64]) {{
  float e[{rows}][64];
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < 64; j++)
      e[i][j] = x[i][j] * x[i][j];
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < 64; j++)
      y[i][j] = e[i][63 - j];
#pragma endscop
}}
"""


def plans_of(rows):
    return {plan.step.sizes: plan for plan in code_plans(scheduled(ROWS.format(rows=rows)), MACHINE)}


def test_threads_wait_for_the_one_with_more_tiles():
    """Three tiles are two for one of two threads, which takes as long as four would."""
    plans, team = plans_of(768), MACHINE.costs.team_seconds(2)
    work = {size: plans[size,].seconds - team for size in (128, 64)}
    assert plans[128,].tiles == 6
    assert work[128] == pytest.approx(work[64], rel=0.01)
    uneven, even = plans_of(384)[128,], plans_of(512)[128,]
    assert (uneven.tiles, even.tiles) == (3, 4)
    assert uneven.seconds - team == pytest.approx(even.seconds - team, rel=0.02)


def test_tiles_of_equal_length_are_candidates():
    """28 rows are two tiles of 14, or four of 7, or eight of 4; a power of two would leave a short tile."""
    assert {(14,), (7,)} <= plans_of(28).keys()
    assert not {(14,), (7,)} & plans_of(32).keys()


def test_an_update_counts_as_an_operation_of_its_own():
    text = ("void f(int n, float x[n], float y[n]) {{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    {}\n"
            "#pragma endscop\n}}")
    plain, added = (code_plans(scheduled(text.format(body)), MACHINE)[0] for body in (
        "y[i] = x[i] * x[i];", "y[i] += x[i] * x[i];"))
    assert added.operations == 2 * plain.operations


PRODUCT = """
void f(float x[128][8][{columns}], float w[128][128], float y[128][8][{columns}], float b[8][{columns}]) {{
  float e[128][8][{columns}];
#pragma scop
  for (int c = 0; c < 128; c++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < {columns}; j++)
        e[c][i][j] = 2.0f * x[c][i][j];
  for (int k = 0; k < 128; k++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < {columns}; j++)
        for (int c = 0; c < 128; c++)
          y[k][i][j] += w[k][c] * {read};
#pragma endscop
}}
"""


def test_sums_along_short_rows_that_would_be_one_row_alone_cost_idle_lanes():
    """Two vectors of 8 lanes for 14 columns take as long as 32 columns would; not where rows are no neighbours."""
    machine = Target(cores=2, vector_bits=512)

    def seconds(columns, read="e[c][i][j]"):
        plan = code_plans(scheduled(PRODUCT.format(columns=columns, read=read)), machine)[0]
        assert plan.binding == "arithmetic"
        return (plan.seconds - machine.costs.team_seconds(2)) / columns

    assert 1.7 < seconds(14) / seconds(16) < 2.5
    assert seconds(32) == pytest.approx(seconds(16), rel=0.1)
    assert seconds(14, "e[c][7 - i][j]") == pytest.approx(seconds(16, "e[c][7 - i][j]"), rel=0.2)


SUMS = """
void f(float x[128][256], float y[128][256], float s{shape}) {{
#pragma scop
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 256; j++)
      s{subscripts} += x[i][j];
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 256; j++)
      y[i][j] = x[i][j] - s{subscripts};
#pragma endscop
}}
"""


def test_sums_of_rows_cost_the_same_with_a_dimension_of_one_element():
    machine = Target(cores=2, vector_bits=512)
    kept, dropped = (code_plans(scheduled(SUMS.format(shape=shape, subscripts=subscripts)), machine)[0].seconds
                     for shape, subscripts in (("[128][1]", "[i][0]"), ("[128]", "[i]")))
    assert kept == pytest.approx(dropped)


MIXED = """
void f(float x[128][256], float y[128][256], {type} s[128]) {{
#pragma scop
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 256; j++)
      s[i] += x[i][j];
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 256; j++)
      y[i][j] = x[i][j] * x[i][j] * x[i][j] * x[i][j] * x[i][j] * x[i][j] * x[i][j] * x[i][j];
  for (int i = 0; i < 128; i++)
    y[i][0] = y[i][0] + (float) s[i];
#pragma endscop
}}
"""


def test_a_sum_in_double_does_not_halve_the_lanes_of_other_statements():
    machine = Target(cores=1, vector_bits=512, costs=replace(Target().costs, memory_bytes_per_cycle=1000.0))
    single, double = (code_plans(scheduled(MIXED.format(type=t)), machine)[0] for t in ("float", "double"))
    assert single.binding == double.binding == "arithmetic"
    assert single.seconds < double.seconds < 1.3 * single.seconds


def test_a_statement_that_touches_nothing_is_part_of_no_tile():
    whole = from_c_text(programs.TWO)
    idle = replace(whole.statements[0], name="S9", accesses=(), body=(),
                   domain=isl.Set("[n] -> { S9[i, j] : 0 <= i < n and j = 0 }"))
    order = isl.Schedule.from_domain(isl.UnionSet.from_set(idle.domain)).sequence(whole.schedule)
    scop = replace(whole, statements=(idle, *whole.statements), schedule=order)
    assert code_plans(ALGORITHMS["original"](analyse(scop)), MACHINE) == ()
