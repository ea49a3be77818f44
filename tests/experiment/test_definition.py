"""What an experiment is by default, and which options its records keep."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from polysched.experiment.definition import Case, Experiment, Settings

PLAIN = Experiment(cases=lambda settings: [Case(name="one")], measure=lambda case, settings, report: {},
                   table=lambda records: "")


def settings(**options: object) -> Settings:
    return Settings(folder=Path("/e"), config={}, threads=(1,), budget_seconds=1.0, options=options,
                    local_options=("jobs", "folder"))


def test_an_experiment_declares_no_options_and_objects_to_nothing() -> None:
    parser = argparse.ArgumentParser()
    PLAIN.add_arguments(parser.add_argument_group("of the experiment"))
    assert vars(parser.parse_args([])) == {}
    assert PLAIN.verdict([]) == ""
    assert (PLAIN.plot, PLAIN.local_options, PLAIN.times_calls) == (None, (), False)
    assert PLAIN.cases(settings())[0].parameters == {}


@pytest.mark.parametrize(("options", "recorded"), [
    ({}, {}), ({"jobs": 3, "folder": "/x"}, {}), ({"depth": 2, "jobs": 3, "none": None}, {"depth": 2, "none": None})])
def test_options_that_say_where_things_are_are_not_recorded(options: dict[str, object],
                                                            recorded: dict[str, object]) -> None:
    assert settings(**options).recorded_options == recorded


def test_how_calls_are_timed_is_recorded_where_it_is_not_the_usual_way() -> None:
    own = Settings(folder=Path("/e"), config={}, threads=(1,), budget_seconds=1.0, cold_cache=True)
    assert own.recorded_options == {"cold_cache": True}
    with pytest.raises(AttributeError):
        own.pin = True   # type: ignore[misc]
