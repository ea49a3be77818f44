"""Options of schedulers: frozen, with refusals of values that mean nothing."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.scheduling.options import SchedulerOptions
from polysched.target import Target


def test_options_are_values() -> None:
    assert SchedulerOptions() == SchedulerOptions()
    assert hash(SchedulerOptions()) == hash(SchedulerOptions())
    with pytest.raises(FrozenInstanceError):
        SchedulerOptions().fusion = "max"  # type: ignore[misc]


@pytest.mark.parametrize("given", [{"fusion": "everything"}, {"max_coefficient": 0}])
def test_values_without_a_meaning_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises((UsageError, ValueError)):
        SchedulerOptions(**given)


def test_what_the_cache_keeps_is_given_or_that_of_a_small_core() -> None:
    assert SchedulerOptions(cache_bytes=0).kept_bytes == 0
    assert SchedulerOptions().kept_bytes == Target().kept_bytes(2) > 0


def test_every_option_is_explained() -> None:
    doc = SchedulerOptions.__doc__ or ""
    assert all(field.name in doc for field in fields(SchedulerOptions))
