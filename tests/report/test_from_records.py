"""Entries of records: every key that a report understands, and where each is looked for."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from polysched.report.from_records import UNDERSTOOD, entry_of_record
from polysched.report.reading import read_results
from tests.report.made_results import PEAKS, contest, record

TIMES = {"gcc": 4.0, "polysched": 1.0, "polysched@2": 0.5, "wrong": 0.0}


def test_every_key_that_is_understood_is_in_its_place() -> None:
    own = contest("gemm", TIMES, reference="polysched", flop_count=8, bytes_moved=2, threads=[1, 3], sizes={"n": 5},
                  dtype="float32", peaks=asdict(PEAKS), peak_flop_per_second=9.0, steps=["a", "b"],
                  candidates=[{"edges": [8, 4], "measured_seconds": [3.0, 1.0, 2.0]}], more={"x": 1})
    found = entry_of_record(own)
    assert (found.reference, found.threads, found.sizes, found.dtype) == ("polysched", 3, {"n": 5}, "float32")
    assert found.work is not None
    assert (found.work.flop_count, found.work.bytes_moved, found.known_peak) == (8, 2, 9.0)
    assert (found.peaks, found.steps, found.values) == (PEAKS, ("a", "b"), {"more": {"x": 1}})
    assert [(t.edges, t.seconds, t.is_pick) for t in found.tiles] == [((8, 4), 2.0, False)]
    assert set(own.values) - {"more"} <= UNDERSTOOD


def test_peaks_come_back_from_json_with_levels_as_numbers() -> None:
    stored = asdict(PEAKS)
    stored["bandwidth"] = {str(level): rate for level, rate in stored["bandwidth"].items()}
    assert entry_of_record(record("x", peaks=stored)).peaks == PEAKS


@pytest.mark.parametrize(("times", "reference"), [
    ({"polysched@2": 1.0, "wrong": 0.0, "gcc": 2.0}, "gcc"), ({"polysched": 1.0}, "polysched"),
    ({"polysched": 1.0, "wrong": 0.0}, "polysched"), ({"polyschedule": 2.0, "polysched": 1.0}, "polyschedule")])
def test_the_reference_is_the_first_with_a_time_that_is_not_ours(times: dict[str, float], reference: str) -> None:
    assert entry_of_record(contest("x", times)).reference == reference


def test_ratios_are_to_the_reference_and_what_has_no_time_says_why() -> None:
    variants = {v.name: v for v in entry_of_record(contest("gemm", TIMES)).variants}
    assert variants["gcc"].speed_up is None
    ratio = variants["polysched@2"].speed_up
    assert ratio == pytest.approx(8.0, rel=0.05)
    assert (variants["wrong"].seconds, variants["wrong"].problem) == (None, "wrong: C[0] differs")


@pytest.mark.parametrize(("values", "parameters", "expected"), [
    ({"sizes": {"a": 1}}, {"sizes": {"b": 2}}, {"a": 1}), ({}, {"sizes": {"b": 2}, "w": {"sizes": {"c": 3}}}, {"b": 2}),
    ({}, {"w": {"sizes": {"c": 3}}}, {"c": 3}), ({}, {}, {})])
def test_what_is_stated_nearest_counts(values: dict[str, Any], parameters: dict[str, Any],
                                       expected: dict[str, int]) -> None:
    own = replace(record("x", **values), parameters=parameters)
    assert entry_of_record(own).sizes == expected


@pytest.mark.parametrize(("stated", "threads", "expected"), [(None, (1, 4), 4), (3, (1,), 3), ([2, 8, 4], (1,), 8),
                                                            (None, (), 1)])
def test_threads_are_the_most(stated: Any, threads: tuple[int, ...], expected: int) -> None:
    own = replace(record("x", **({} if stated is None else {"threads": stated})), threads=threads)
    assert entry_of_record(own).threads == expected


@pytest.mark.parametrize(("options", "label"), [
    ({}, ""), ({"pin": True}, "pinned"), ({"cold_cache": True, "pin": True}, "pinned, cold cache"),
    ({"pin": False, "depth": 2}, "")])
def test_how_calls_were_timed_is_the_label(options: dict[str, Any], label: str) -> None:
    assert entry_of_record(replace(record("x"), options=options)).label == label


def test_half_a_count_of_work_is_none_and_a_problem_is_told() -> None:
    assert entry_of_record(record("x", flop_count=5)).work is None
    assert entry_of_record(record("x", flop_count=0, bytes_moved=0)).work is not None
    assert entry_of_record(record("x", status="hung", problem="no progress")).problem == "hung: no progress"


def test_the_pick_of_the_model_has_the_edges_of_its_longest_band() -> None:
    candidates = [{"edges": "auto", "tiles": [[4], [8, 16], []], "measured_seconds": [1.0], "predicted_seconds": 2.0},
                  {"edges": "auto", "measured_seconds": [1.0]}, {"edges": [3], "measured_seconds": []}]
    (tile,) = entry_of_record(record("x", candidates=candidates)).tiles
    assert (tile.edges, tile.is_pick, tile.predicted_seconds) == ((8, 16), True, 2.0)


def test_candidates_that_are_no_tiles_are_left_out() -> None:
    assert entry_of_record(record("x", candidates=[{"name": "pluto", "measured_seconds": [1.0]}])).tiles == ()


def test_a_committed_record_of_schedules_is_read() -> None:
    path = Path(__file__).parents[2] / "experiments" / "best_schedule" / "results.jsonl"
    assert read_results([path]).entries
