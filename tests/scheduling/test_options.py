"""Options of schedulers: frozen, with refusals of values that mean nothing."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from polysched.errors import UsageError
from polysched.scheduling.options import SchedulerOptions


def test_options_are_values() -> None:
    assert SchedulerOptions() == SchedulerOptions()
    assert hash(SchedulerOptions()) == hash(SchedulerOptions())
    with pytest.raises(FrozenInstanceError):
        SchedulerOptions().fusion = "max"  # type: ignore[misc]


@pytest.mark.parametrize("given", [{"fusion": "everything"}, {"max_coefficient": 0}])
def test_values_without_a_meaning_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises((UsageError, ValueError)):
        SchedulerOptions(**given)


def test_every_option_is_explained() -> None:
    doc = SchedulerOptions.__doc__ or ""
    assert all(field.name in doc for field in fields(SchedulerOptions))
