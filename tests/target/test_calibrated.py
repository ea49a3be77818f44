"""Calibrated costs: what a file holds is applied to a target, and a broken file is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.target import Target
from polysched.target.calibrated import Calibrated, Figure, read_calibrated

FOUND = Calibrated(machine="m", compiler="gcc", disturbed=False, bandwidth=((1, 2e10), (0, 1e9)), figures=(
    Figure(name="row_cycles", value=12.0, least=11.0, most=13.0, unit="cycles", shipped=20),
    Figure(name="line_L1", value=3e-9, least=3e-9, most=3e-9, unit="s", shipped=4e-9)))


def written(tmp_path: Path, value: object) -> Path:
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(value))
    return path


def test_a_file_gives_back_the_value(tmp_path: Path) -> None:
    assert read_calibrated(written(tmp_path, FOUND.as_json())) == FOUND


def test_costs_measured_beside_other_programs_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    read_calibrated(written(tmp_path, FOUND.as_json()))
    assert not caplog.records
    read_calibrated(written(tmp_path, replace(FOUND, disturbed=True).as_json()))
    assert "while other programs used the cores" in caplog.text


def test_measured_costs_replace_shipped_ones() -> None:
    target = FOUND.of_target(Target())
    assert target.costs == replace(Target().costs, row_cycles=12.0)
    assert (target.bandwidth(1), target.bandwidth(0), target.bandwidth(2)) == (2e10, 1e9, Target().bandwidth(2))


def test_a_measured_clock_is_the_targets() -> None:
    clock = Figure(name="frequency_hz", value=3.5e9, least=3.4e9, most=3.6e9, unit="Hz", shipped=2.4e9)
    assert replace(FOUND, figures=(*FOUND.figures, clock)).of_target(Target()).frequency_hz == 3.5e9
    assert FOUND.of_target(Target(frequency_hz=2e9)).frequency_hz == 2e9   # files from before the clock was measured


@pytest.mark.parametrize(("change", "message"), [
    ({"format_version": 0}, "another version"),
    ({"figures": [{"name": "row_cycles"}]}, "no costs of a machine"),
    ({"machine": None}, "machine: None is no text"),
    ({"disturbed": "no"}, "disturbed: 'no' is no truth value"),
    ({"bandwidth": {"1": 2e10}}, "bandwidth: {'1': 20000000000.0} is no list"),
    ({"bandwidth": [[1, "2e10"]]}, r"bandwidth\[0\]\[1\]: '2e10' is no finite number"),
    ({"bandwidth": [[1]]}, r"bandwidth\[0\]: \[1\] is no list of 2"),
    ({"bandwidth": [[1, 0]]}, "no positive number"),
    ({"figures": [{"name": "row_cycles", "value": -1, "least": 0, "most": 0, "unit": "s", "shipped": 1}]}, "positive"),
    ({"figures": [{"name": "rows", "value": 1, "least": 0, "most": 0, "unit": "s", "shipped": 1}]}, "no such cost"),
])
def test_a_broken_file_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        read_calibrated(written(tmp_path, json.loads(json.dumps(FOUND.as_json())) | change))
    assert refused.value.hint


@pytest.mark.parametrize("name", ["team_start_seconds", "row_cycles"])
def test_what_is_too_small_to_be_measured_is_nothing(tmp_path: Path, name: str) -> None:
    figure = {"name": name, "value": 0.0, "least": 0.0, "most": 1.0, "unit": "s", "shipped": 1.0}
    found = read_calibrated(written(tmp_path, json.loads(json.dumps(FOUND.as_json())) | {"figures": [figure]}))
    assert getattr(found.of_target(Target()).costs, name) == 0


@pytest.mark.parametrize(("field", "given", "problem"), [
    ("value", "12", "value: '12' is no finite number"), ("value", True, "value: True is no finite number"),
    ("least", None, "least: None is no finite number"), ("most", [13], "most: [13] is no finite number"),
    ("shipped", float("nan"), "shipped: nan is no finite number"), ("unit", 1, "unit: 1 is no text")])
def test_a_figure_of_a_wrong_type_is_refused_with_its_name(tmp_path: Path, field: str, given: object,
                                                           problem: str) -> None:
    value = json.loads(json.dumps(FOUND.as_json()))
    value["figures"][0][field] = given
    with pytest.raises(UsageError) as refused:
        read_calibrated(written(tmp_path, value))
    assert refused.value.witness == f"figures[row_cycles].{problem}"


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_what_is_no_such_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "costs.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="costs of"):
        read_calibrated(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_calibrated(tmp_path / "missing.json")
