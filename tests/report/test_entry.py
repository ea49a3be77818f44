"""One result of a report: rates, peaks and roofs by its threads, and nothing where something is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polysched.measure.measurement import Work
from polysched.report.entry import Entry, Provenance, Variant
from tests.report.made_results import MACHINE, PEAKS

WHERE = Provenance(machine=MACHINE, governor="", load=0.0, compiler="", flags="", libraries={}, git_revision="",
                   started="", command="")
FULL = Entry(kernel="gemm", label="n=5", sizes={}, provenance=WHERE, threads=2, dtype="float64", peaks=PEAKS,
             work=Work(flop_count=400, bytes_moved=100))


def test_a_title_has_the_label_in_brackets() -> None:
    assert (FULL.title, replace(FULL, label="").title) == ("gemm (n=5)", "gemm")


@pytest.mark.parametrize(("changes", "peak", "bandwidth"), [
    ({}, 80e9, 20e9), ({"threads": 1}, 40e9, 12e9), ({"threads": 1, "dtype": "float32"}, 80e9, 12e9),
    ({"dtype": "int8"}, None, 20e9), ({"dtype": "int8", "known_peak": 7.0}, 7.0, 20e9),
    ({"known_peak": 7.0}, 80e9, 20e9), ({"peaks": None}, None, None), ({"peaks": None, "known_peak": 7.0}, 7.0, None)])
def test_limits_are_those_of_the_threads_and_the_type(changes: dict[str, Any], peak: float | None,
                                                      bandwidth: float | None) -> None:
    own = replace(FULL, **changes)
    assert (own.peak, own.memory_bandwidth) == (peak, bandwidth)
    roof = None if peak is None or bandwidth is None else min(peak, 4 * bandwidth)
    assert own.roof() == roof


@pytest.mark.parametrize(("work", "intensity", "rate"), [
    (None, None, None), (Work(flop_count=400, bytes_moved=0), None, 200.0),
    (Work(flop_count=0, bytes_moved=8), 0.0, None), (Work(flop_count=400, bytes_moved=100), 4.0, 200.0)])
def test_what_is_not_counted_has_no_rate(work: Work | None, intensity: float | None, rate: float | None) -> None:
    own = replace(FULL, work=work)
    assert own.intensity == intensity
    assert own.rate(Variant(name="a", seconds=2.0)) == rate
    assert own.rate(Variant(name="a")) is None
    assert (own.roof() is None) == (intensity is None)


def test_what_is_compared_has_a_ratio_to_the_reference() -> None:
    variants = (Variant(name="original", seconds=2.0), Variant(name="a", seconds=1.0, speed_up=2.0),
                Variant(name="wrong", problem="wrong: C differs"))
    assert [v.name for v in replace(FULL, variants=variants).compared()] == ["a"]


@pytest.mark.parametrize(("problem", "missing"), [("missing", True), ("missing: not on the PATH", True), ("", False),
                                                  ("wrong: missing: x", False), ("missingly", False)])
def test_a_tool_that_was_not_there_is_missing(problem: str, missing: bool) -> None:
    assert Variant(name="a", problem=problem).is_missing == missing
