"""Stages are told before they begin, and their times add up, whatever the stage returns."""

import logging

import pytest

from polysched.pipeline.timing import STAGE_WORDS, stage_logger, timed


def test_times_of_one_stage_add_up_and_the_value_comes_back() -> None:
    seconds = {"scop": 5.0}
    value = object()
    assert timed(seconds, "scop", lambda: value) is value
    assert timed(seconds, "tiled", lambda: None) is None
    assert seconds["scop"] >= 5.0
    assert seconds.keys() == {"scop", "tiled"}


def test_a_stage_is_told_before_it_begins(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []
    with caplog.at_level(logging.INFO, logger=stage_logger.name):
        for stage in (*STAGE_WORDS, "other"):
            timed({}, stage, lambda: told.append(caplog.messages[-1]))
    assert told == [*STAGE_WORDS.values(), "other"]


def test_a_stage_that_fails_has_no_time() -> None:
    seconds: dict[str, float] = {}
    with pytest.raises(ZeroDivisionError):
        timed(seconds, "scop", lambda: 1 // 0)
    assert seconds == {}
