"""Emitted loops are run for their order alone, and a wrong schedule is caught by it."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.measure.programs.instance_trace import instance_count, small_sizes, traced_function, verify_order
from polysched.scheduling import ALGORITHMS
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

SOURCE = """
struct grid { int n; };
static double A[1000][1000];
void sweep(struct grid *g)
{
#pragma scop
    for (int i = 1; i < g->n; i++)
        for (int j = 1; j < g->n; j++)
            A[i][j] = A[i - 1][j] + A[i][j - 1];
#pragma endscop
}
"""


def transformed(scop: Scop) -> TiledSchedule:
    return tile(ALGORITHMS["pluto"](analyse(scop)), TilingOptions(sizes=2))


def with_tree(tiled: TiledSchedule, change: str) -> TiledSchedule:
    """The same value with another tree, which nobody has checked."""
    tree = isl.Schedule(f'{{ domain: "{tiled.schedule.scop.domain}", child: {{ schedule: "{change}" }} }}')
    return replace(tiled, tree=tree)


def test_globals_and_struct_members_need_no_memory() -> None:
    tiled = transformed(from_c_text(SOURCE))
    sizes = verify_order(tiled)
    assert instance_count(tiled.schedule.scop, sizes) == 36


def test_a_wrong_schedule_is_refused_with_a_pair() -> None:
    tiled = transformed(from_c_text(SOURCE))
    parameter = tiled.schedule.scop.parameters[0].name
    wrong = with_tree(tiled, f"[{parameter}] -> [{{ S0[i, j] -> [i] }}, {{ S0[i, j] -> [-j] }}]")
    with pytest.raises(IllegalScheduleError, match=r"wrong order\n  witness: S0\[1, \d\] before S0\[1, \d\], for A\["):
        verify_order(wrong)


def test_a_parallel_loop_that_carries_a_dependence_is_refused() -> None:
    scop = from_c_text(SOURCE)
    tiled = transformed(scop)
    parameter = scop.parameters[0].name
    tree = with_tree(tiled, f"[{parameter}] -> [{{ S0[i, j] -> [i] }}, {{ S0[i, j] -> [j] }}]").tree
    band = tree.get_root().child(0).insert_mark(isl.Id("polysched role=loop parallel=1"))
    with pytest.raises(IllegalScheduleError, match="different iterations of a parallel loop"):
        verify_order(replace(tiled, tree=band.get_schedule()))


def test_sizes_are_small_but_not_empty() -> None:
    scop = from_c_text("""
void f(int n, int m, double A[n])
{
#pragma scop
    for (int i = m; i < n; i++)
        A[i] = 0.0;
#pragma endscop
}
""")
    sizes = small_sizes(scop)
    assert sizes["m"] < sizes["n"] <= 7


def test_large_constants_are_refused() -> None:
    scop = from_c_text("""
double A[5000];
void f(void)
{
#pragma scop
    for (int i = 0; i < 5000; i++)
        A[i] = 0.0;
#pragma endscop
}
""")
    with pytest.raises(UsageError, match=r"the order of f cannot be checked.*\n  hint: check a version of it"):
        verify_order(transformed(scop))


def test_the_traced_function_has_the_parameters_only() -> None:
    text = traced_function(transformed(from_c_text(SOURCE)), name="traced")
    assert text.startswith("void traced(int ")
    assert "A[" not in text
    assert "polysched_trace_0(" in text
