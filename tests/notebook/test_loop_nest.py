"""The loops of a schedule as lines: whose each is, and which loops would run on threads or in lanes."""

from __future__ import annotations

import re

import pytest

from polysched.dependence import analyse
from polysched.emit_c import emit
from polysched.errors import UsageError
from polysched.notebook.loop_nest import NestLine, _lines, loop_nest, schedule_of
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile

TWO = """
void f(int n, double A[n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            B[i][j] *= 2.0;
#pragma endscop
}
"""
SUM = """
void f(int n, unsigned A[n], unsigned s[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += A[i];
#pragma endscop
}
"""


def schedule(text: str, algorithm: str = "original", reductions: str = "keep") -> Schedule:
    return ALGORITHMS[algorithm](analyse(from_c_text(text), reductions=reductions))


@pytest.fixture(scope="module")
def two() -> Schedule:
    return schedule(TWO)


def test_every_statement_has_its_lines_and_loops_have_none(two: Schedule) -> None:
    lines = loop_nest(two)
    assert [(line.text.strip(), line.statement) for line in lines if line.statement] == [
        ("A[i] = 0.0;", "S0"), ("B[i][j] *= 2.0;", "S1")]
    loops = [line for line in lines if line.text.lstrip().startswith("for ")]
    assert len(loops) == 3
    assert not any(line.statement for line in loops)


def test_nothing_of_the_trace_is_shown(two: Schedule) -> None:
    for own in (two, tile(two, TilingOptions(sizes=4), alone=False), schedule(SUM, "pluto", "exact")):
        text = "\n".join(line.text for line in loop_nest(own))
        assert "polysched_" not in text
        assert not re.search(r"[{}]|^#", text, re.MULTILINE)


def test_loops_on_threads_say_so(two: Schedule) -> None:
    tiled = tile(two, TilingOptions(sizes="off", parallel=True), alone=False)
    marked = [line.text for line in loop_nest(tiled) if "//" in line.text]
    assert marked
    assert all(text.lstrip().startswith("for ") for text in marked)


@pytest.mark.parametrize("algorithm", ["original", "pluto"])
def test_a_sum_on_threads_is_shown_with_its_partial_results(algorithm: str) -> None:
    own = tile(schedule(SUM, algorithm, "exact"), TilingOptions(sizes="off", parallel=True), alone=False)
    assert [line.text for line in loop_nest(own)] == [
        "for (long i = 0; i < n; i++)  // parallel, partial results", "  s[0] += A[i];"]


def test_every_kind_of_loop_has_its_word() -> None:
    text = """polysched_here_begin(1);
for (long c0 = 0; c0 < n; c0 += 1) {
  polysched_here_iteration(1);
  polysched_here_begin(3);
  polysched_here_begin(2);
  for (long c1 = polysched_max(0, c0); c1 < n; c1 += 1) {
    polysched_here_iteration(3);
    polysched_here_iteration(2);
    polysched_here_1((long)(c0));
    A[c0] = 1;
  }
  polysched_here_end(2);
  if (c0 > 0)
  {
    polysched_here_0((long)(c0), (long)(c0));
    if (B)
      B[c0] = 2;
  }
}
polysched_here_end(1);
"""
    assert _lines(text, ["S", "T"]) == [
        NestLine("for (long c0 = 0; c0 < n; c0 += 1)  // parallel"),
        NestLine("  for (long c1 = max(0, c0); c1 < n; c1 += 1)  // parallel, partial results, simd"),
        NestLine("    A[c0] = 1;", "T"), NestLine("  if (c0 > 0)"), NestLine("    if (B)", "S"),
        NestLine("      B[c0] = 2;", "S")]


def test_a_schedule_is_found_inside_the_stages(two: Schedule) -> None:
    tiled = tile(two, TilingOptions(sizes="off"), alone=False)
    assert schedule_of(two) is two
    assert schedule_of(tiled) is tiled
    assert schedule_of(emit(tiled)) is tiled
    with pytest.raises(UsageError, match="a Scop has no loops to show"):
        schedule_of(two.scop)
