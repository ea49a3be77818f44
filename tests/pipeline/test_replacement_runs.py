"""Runs that tell whether code with an instruction is right: all of the region where that is short, with remainders."""

from __future__ import annotations

import pytest

from polysched.emit_c.alternatives.smaller_programs import MOST_WORK, work_of
from polysched.pipeline.replacement_runs import EMULATED_WORK, checks_of, preparation_of, region_work, runs_of
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize.matching.facts import Numerics
from tests.emit_c.alternatives.matched_programs import floats, integers
from tests.scop.c_frontend.read_region import in_function


@pytest.fixture(scope="module")
def triangle() -> Scop:
    return from_c_text(in_function(
        "for (int i = 0; i < n; i++) { x[i] = 0; for (int j = 0; j <= i; j++) x[i] += A[j]; }",
        head="int n, double *restrict A, double *restrict x"))


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_the_work_of_a_region_is_that_of_boxes_around_its_statements(triangle: Scop, n: int) -> None:
    assert region_work(triangle, {"n": n}) == n + n * n


def test_a_short_region_runs_as_a_whole_and_with_fewer_iterations() -> None:
    made = integers()
    given = made.match.fragment.scop
    first, *fewer = runs_of(made, given, Numerics(), emulated=False)
    assert first.given is given
    assert first.program is made
    assert not first.sampled
    assert fewer, "remainders of lanes and rows are tried, too"
    assert all(work_of(run.program) < work_of(made) for run in fewer)


def test_without_the_region_the_statement_runs_alone() -> None:
    for made in (integers(), floats()):
        found = runs_of(made, None, Numerics(), emulated=False)
        assert all(run.given is None for run in found)
        assert found[0].program is made


@pytest.mark.parametrize("emulated", [False, True])
def test_a_long_region_runs_in_part(emulated: bool) -> None:
    long = integers(MOST_WORK // 1000, 3001)
    assert work_of(long) > MOST_WORK > EMULATED_WORK
    found = runs_of(long, long.match.fragment.scop, Numerics(), emulated=emulated)
    assert all(run.given is None for run in found)
    most = EMULATED_WORK if emulated else MOST_WORK
    assert all(run.sampled or work_of(run.program) <= most for run in found)


def test_each_run_has_a_check_with_an_entry_of_its_own() -> None:
    made = integers()
    runs = runs_of(made, made.match.fragment.scop, Numerics(), emulated=True)
    checks = checks_of(runs, parallel=False, emulated=True)
    assert len(checks) == len(runs)
    assert all(f"replaced_{at}" in c.replaced_text for at, c in enumerate(checks))
    assert preparation_of(made, runs, made.match.fragment.scop) == [], "the whole region ran"
    assert preparation_of(made, runs, None) == []
