"""The schema of results files: what is written fits it, what is not does not; its page is up to date."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from polysched.measure.results import measurement_to_json
from polysched.report.schema import described, results_schema, schema_page
from tests.measure.test_results import MEASUREMENT
from tests.report.made_results import contest, measured, record

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")


def plain(value: Any) -> Any:
    """What a reader of the file sees: lists for tuples, text for keys."""
    return json.loads(json.dumps(value))


def fits(value: Any) -> bool:
    schema = results_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return not list(jsonschema.Draft202012Validator(schema).iter_errors(value))


@pytest.mark.parametrize("value", [
    measurement_to_json(MEASUREMENT), measurement_to_json(measured("f", verification=None, timing=None, work=None)),
    asdict(contest("case", {"polysched": 1.0, "numpy": 0.0})), asdict(record("late", status="hung"))])
def test_what_is_written_fits(value: dict[str, Any]) -> None:
    assert fits(plain(value))


@pytest.mark.parametrize("change", [
    {"format_version": 99}, {"threads": "two"}, {"unknown": 1}, {"timing": {"original": []}}, {"sizes": None}])
def test_another_version_or_field_does_not(change: dict[str, Any]) -> None:
    assert not fits(plain(measurement_to_json(MEASUREMENT)) | change)


def test_a_missing_field_does_not() -> None:
    value = copy.deepcopy(plain(asdict(record("late"))))
    del value["status"]
    assert not fits(value)


def test_meanings_come_from_docstrings() -> None:
    said = described(type(MEASUREMENT))
    assert said["transformed"] == "the build of the transformed code."
    assert said["timing"].startswith("None unless")


def test_names_may_share_a_meaning() -> None:
    pair = type("Pair", (), {"__doc__": "Two.\n\n    Parameters\n    ----------\n    first, second : the same.\n"})
    assert described(pair) == {"first": "the same.", "second": "the same."}


def test_the_page_is_made_from_the_values(golden: Callable[[Path, str], None]) -> None:
    golden(PAGE, schema_page())
