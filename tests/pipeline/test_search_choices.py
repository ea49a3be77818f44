"""The pipeline asks a search which plan or schedule is taken; where nobody is there, it says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.search_choices import choosing_plans, choosing_schedules, with_chosen_plan
from polysched.pipeline.stages import analysed, scheduled
from polysched.scheduling.algorithms import ALGORITHMS
from polysched.scop import from_c_text
from polysched.tensorize import decision as deciding
from polysched.tensorize import match
from polysched.tensorize.program import tensorize
from polysched.tiling import TilingOptions, tile
from tests.pipeline.replacements import PRODUCT, RIGHT


def decided() -> deciding.Decision:
    found = match(from_c_text(PRODUCT), RIGHT).matches[0]
    return deciding.Decision(program=tensorize(found), reasons=("S0: by a test",), rivals=(found,))


def test_nobody_is_asked_without_rivals() -> None:
    def choose(*_: Any) -> deciding.Decision:
        raise AssertionError("it is asked")
    decision = replace(decided(), rivals=())
    with choosing_plans(choose):
        assert with_chosen_plan(decision, PipelineOptions()) is decision


def test_who_measures_chooses_as_long_as_it_lasts() -> None:
    decision = decided()
    chosen = replace(decision, reasons=("measured",))
    with choosing_plans(lambda given, options: chosen):
        assert with_chosen_plan(decision, PipelineOptions()) is chosen
    with pytest.raises(UsageError, match="nobody measures plans here"):
        with_chosen_plan(decision, PipelineOptions())


def test_who_searches_chooses_the_schedule() -> None:
    dependences = analysed(from_c_text(PRODUCT)).dependences
    options = PipelineOptions(scheduler="best", tile="off")
    asked: list[Any] = []

    def choose(given: Any, how: Any, tiling: TilingOptions) -> Any:
        asked.append((given, tiling.sizes))
        return tile(ALGORITHMS["original"](given, options=how), tiling, alone=False)
    with choosing_schedules(choose):
        assert scheduled(dependences, options).algorithm == "original"
    assert asked == [(dependences, "off")]
    with pytest.raises(UsageError, match="nobody compares schedules here"):
        scheduled(dependences, options)
