"""Loop nests side by side: every line of both, colours only for what moved, and refusals."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit
from polysched.errors import UsageError
from polysched.notebook import compare
from polysched.notebook.loop_nest import loop_nest
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling import steps
from polysched.scheduling.primitives import Interchange, Parallel, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.html_reader import Page

PRODUCT = """\
void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""


def original(text: str = PRODUCT) -> Schedule:
    scop = from_c_text(text)
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def test_a_nest_is_the_loops_around_the_bodies():
    assert [(line.text, line.statement) for line in loop_nest(original())] == [
        ("for (long i = 0; i < n; i++)", None), ("  for (long j = 0; j < n; j++)", None),
        ("    C[i][j] = 0;", "S0"), ("    for (long k = 0; k < n; k++)", None),
        ("      C[i][j] += A[i][k] * B[k][j];", "S1")]


def test_a_parallel_loop_says_so():
    lines = loop_nest(steps.apply(original(), Parallel(loop="j")))
    assert [line.text.strip() for line in lines if "//" in line.text] == ["for (long j = 0; j < n; j++)  // parallel"]


def test_moved_statements_are_coloured_and_others_are_not():
    before = original()
    comparison = compare(before, steps.apply(before, Tile(loops=("i", "j"), sizes=(4, 4))))
    assert comparison.moved == ("S0", "S1")
    page = Page(comparison._repr_html_())
    assert page.counts["div"] == 11 + len(comparison.before) + len(comparison.after)
    for line in (*comparison.before, *comparison.after):
        assert line.text in page.text
    assert comparison._repr_html_().count("border-left:4px solid #4477aa") == 2   # S0, once on each side
    same = compare(before, before)
    assert same.moved == ()
    assert "background:#" not in same._repr_html_()
    assert "the order of the statements is the same" in str(same)


def test_text_has_two_columns_and_stars_for_what_moved():
    before = original("\n".join(line for line in PRODUCT.splitlines() if "= 0;" not in line or "for" in line))
    lines = str(compare(before, steps.apply(before, Interchange(outer="j", inner="k")))).splitlines()
    assert lines[0].split() == ["before", "|", "after"]
    assert [part.strip() for part in lines[2].split("|")] == ["for (long j = 0; j < n; j++)",
                                                              "for (long k = 0; k < n; k++)"]
    assert lines[4].count("*       C[i][j]") == 2
    assert lines[-1] == "moved: S0"


def test_all_stages_with_loops_can_be_compared():
    optimized = optimize(original().scop, PipelineOptions(tile=8))
    for stage in (optimized, optimized.schedule, optimized.tiled, optimized.source,
                  emit(tile(optimized.schedule, TilingOptions(sizes="off")))):
        assert compare(optimized.schedule, stage).after


def test_values_without_loops_and_other_programs_are_refused():
    before = original()
    with pytest.raises(UsageError, match="a Scop has no loops to show"):
        compare(before.scop, before)
    with pytest.raises(UsageError, match="loops of different programs"):
        compare(before, original(PRODUCT.replace("i < n;", "i < n - 1;")))
