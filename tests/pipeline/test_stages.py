"""The stages one by one give what the whole pipeline gives, and options that say too little to expand do not."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.pipeline import PipelineOptions, optimize
from polysched.pipeline.stages import analysed, scheduled
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from tests.scop.c_frontend.read_region import in_function


@pytest.fixture(scope="module")
def temporary() -> Scop:
    """Rows that share one scalar."""
    return from_c_text(in_function(
        "for (int i = 0; i < n; i++) { t = x[i]; for (int j = 0; j < n; j++) y[i] += t * x[j]; }",
        before="double t;", head="int n, double *restrict x, double *restrict y"))


def test_temporaries_are_expanded_where_values_are_known(temporary: Scop) -> None:
    assert analysed(temporary).arrays
    assert not analysed(temporary, expand=False).arrays
    by_memory = analysed(temporary, value_based=False)
    assert not by_memory.arrays
    assert analyse(temporary, value_based=False).validity.is_equal(by_memory.dependences.validity)


def test_input_dependences_are_of_the_expanded_program(temporary: Scop) -> None:
    found = analysed(temporary, inputs=True)
    assert found.arrays
    assert found.dependences.scop.arrays != temporary.arrays


def test_temporaries_that_shall_stay_stay(temporary: Scop) -> None:
    assert not analysed(temporary, but=frozenset({"t"})).arrays


@pytest.mark.parametrize("scheduler", ["pluto"])
def test_schedules_are_those_of_the_pipeline(temporary: Scop, scheduler: str) -> None:
    options = PipelineOptions(scheduler=scheduler, tile="off", parallel=False)
    whole = optimize(temporary, options)
    alone = scheduled(whole.dependences, options)
    assert alone.algorithm == whole.schedule.algorithm
    assert tree_text(alone.tree) == tree_text(whole.schedule.tree)
